// Package vectors holds test vectors for UTF-8 decoders.
package vectors

import (
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

//go:embed core.json complete.json
var documents embed.FS

// Octets are spelt in hexadecimal in JSON.
type Octets []byte

// UnmarshalText reads them.
func (o *Octets) UnmarshalText(text []byte) (err error) {
	*o, err = hex.DecodeString(string(text))
	return err
}

// Scalars are spelt "0041 20AC" in JSON.
type Scalars []rune

// UnmarshalText reads them.
func (s *Scalars) UnmarshalText(text []byte) error {
	for _, word := range strings.Fields(string(text)) {
		scalar, err := strconv.ParseUint(word, 16, 21)
		if err != nil {
			return err
		}
		*s = append(*s, rune(scalar))
	}
	return nil
}

// Verdict says whether the input is well-formed.
type Verdict string

// The verdicts.
const (
	Accept Verdict = "accept"
	Reject Verdict = "reject"
)

// Vector is one input and what a right decoder answers.
type Vector struct {
	ID     string
	Octets Octets `json:"hex"`
	// Chunks holds the lengths of the chunks it comes in; nil where it comes whole.
	Chunks  []int
	Comment string
	// Cases name what it is for, Flags what is wrong with it.
	Cases, Flags []string
	// Decoder is one that got it wrong, and References say where that stands.
	Decoder    string
	References []string
	Provenance struct{ Document, Section, Rule, Alternative string }
	Since      string
	Expect     struct {
		Strict struct {
			Verdict        Verdict
			Scalars        Scalars // empty where it is refused
			Offset, Length int     // of the first maximal subpart of what is ill-formed
			Incomplete     bool
			DetectableAt   *int `json:"detectable_at"` // nil where only the end shows it
		}
		// Replacement has one U+FFFD for each maximal subpart.
		Replacement struct {
			Scalars Scalars
			Chunked []Scalars // what is out after each chunk, or octet, and at the end
		}
	}
}

// Core returns the vectors for each known kind of fault.
func Core() []Vector { return load("core.json") }

// Complete returns those that no wrong decoder of up to nine states passes.
func Complete() []Vector { return load("complete.json") }

// ByID returns the vector with that id, of whichever list.
func ByID(id string) (Vector, error) {
	for _, v := range append(Core(), Complete()...) {
		if v.ID == id {
			return v, nil
		}
	}
	return Vector{}, fmt.Errorf("no vector %q: use the ID of one that Core or Complete returns", id)
}

// Failing returns the vectors, of both lists, that a strict decoder accepts or refuses wrongly, or decodes to another
// text.
func Failing(decode func(octets []byte) (text string, ok bool)) (failing []Vector) {
	for _, v := range append(Core(), Complete()...) {
		text, ok := decode(v.Octets)
		if ok != (v.Expect.Strict.Verdict == Accept) || ok && text != string(v.Expect.Strict.Scalars) {
			failing = append(failing, v)
		}
	}
	return failing
}

func load(name string) (all []Vector) {
	text, err := documents.ReadFile(name)
	var document struct{ Groups []struct{ Tests []Vector } }
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		panic(err) // not the documents that this module came with
	}
	for _, group := range document.Groups {
		all = append(all, group.Tests...)
	}
	return all
}
