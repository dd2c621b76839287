// Adapter for Go's standard library: go_utf8 utf8|tovalidutf8
// Build: go build -o go_utf8 go_utf8.go
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const notSaid = 0xFFFFFFFF

// What a refusal says of its place.
type refusal struct {
	offset             uint32
	length, incomplete byte
}

var silent = &refusal{notSaid, 0, 0xFF}

// An operation appends its output to out, or refuses. What it appended before it refused is dropped.
type operation func(octets, out []byte) ([]byte, *refusal)

var order = binary.BigEndian

func valid(octets, out []byte) ([]byte, *refusal) {
	if !utf8.Valid(octets) {
		return out, silent
	}
	return out, nil
}

// Strict, as a Go program does it: U+FFFD with a width of 1 is how DecodeRune reports an error. That width is
// always 1, so it says nothing about the length of what is ill-formed.
func decode(octets, out []byte) ([]byte, *refusal) {
	for place := 0; place < len(octets); {
		r, width := utf8.DecodeRune(octets[place:])
		if r == utf8.RuneError && width == 1 {
			said := &refusal{offset: uint32(place)}
			if !utf8.FullRune(octets[place:]) {
				said.incomplete = 1
			}
			return out, said
		}
		out = order.AppendUint32(out, uint32(r))
		place += width
	}
	return out, nil
}

func appendString(out []byte, text string) []byte {
	for _, r := range text {
		out = order.AppendUint32(out, uint32(r))
	}
	return out
}

func rangeLoop(octets, out []byte) ([]byte, *refusal) {
	return appendString(out, string(octets)), nil
}

func toValid(octets, out []byte) ([]byte, *refusal) {
	return appendString(out, strings.ToValidUTF8(string(octets), "\uFFFD")), nil
}

// A number as a rune. A rune is signed: what does not fit becomes -1, which is no more valid than it was.
func toRune(octets []byte) rune {
	if number := order.Uint32(octets); number <= 0x7FFFFFFF {
		return rune(number)
	}
	return -1
}

func encode(octets, out []byte) ([]byte, *refusal) {
	for place := 0; place+4 <= len(octets); place += 4 {
		out = utf8.AppendRune(out, toRune(octets[place:]))
	}
	return out, nil
}

func encodeUTF16(octets, out []byte) ([]byte, *refusal) {
	units := make([]uint16, len(octets)/2)
	for i := range units {
		units[i] = order.Uint16(octets[2*i:])
	}
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

func announce(octets, out []byte) ([]byte, *refusal) {
	size := 0
	for place := 0; place+4 <= len(octets); place += 4 {
		length := utf8.RuneLen(toRune(octets[place:]))
		if length < 0 { // AppendRune would write three octets; RuneLen does not say so
			return out, &refusal{offset: uint32(place / 4)}
		}
		size += length
	}
	return order.AppendUint32(out, uint32(size)), nil
}

func single(run operation, octets, response []byte) []byte {
	start := len(response)
	response, refused := run(octets, append(response, 'A'))
	if refused != nil {
		response = append(response[:start], 'R')
		if refused != silent {
			response = append(order.AppendUint32(response, refused.offset), refused.length, refused.incomplete)
		}
	}
	return response
}

// size is the number of octets in a unit of the output.
func batch(run operation, size int, payload, response []byte) []byte {
	count := int(order.Uint32(payload))
	sizes, octets := payload[4:4+4*count], payload[4+4*count:]
	response = append(response, 'A')
	start := len(response)
	response = append(response, make([]byte, 7*count)...)
	for item := 0; item < count; item++ {
		length, before := order.Uint32(sizes[4*item:]), len(response)
		var refused *refusal
		response, refused = run(octets[:length:length], response)
		octets = octets[length:]
		columns := response[start:] // anew for each: response may have moved
		if refused == nil {
			columns[item] = 'A'
			order.PutUint32(columns[count+4*item:], uint32((len(response)-before)/size))
			continue
		}
		columns[item] = 'R'
		order.PutUint32(columns[count+4*item:], refused.offset)
		columns[5*count+item], columns[6*count+item] = refused.length, refused.incomplete
		response = response[:before]
	}
	return response
}

func main() {
	argument := strings.Join(os.Args[1:], " ")
	operations := map[byte]operation{}
	letters, words := "", ""
	switch argument {
	case "utf8":
		operations = map[byte]operation{
			'V': valid, 'D': decode, 'L': rangeLoop, 'E': encode, 'F': encodeUTF16, 'Z': announce,
		}
		letters, words = "PBVDLEFZ", `"error_mode": "replacement-per-octet", "encode_errors": "replacement"`
	case "tovalidutf8":
		operations['L'] = toValid
		letters, words = "PBL", `"error_mode": "replacement-per-run"`
	default:
		fmt.Fprintln(os.Stderr, "usage: go_utf8 utf8|tovalidutf8")
		os.Exit(2)
	}
	input, output := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	fmt.Fprintf(output, `{"overlong": 1, "name": "go-%s", "version": %q, "language": "Go", "platform": "%s/%s", `+
		`"operations": "%s", "units": "utf-32", %s}`+"\n",
		argument, runtime.Version(), runtime.GOOS, runtime.GOARCH, letters, words)
	var body, response []byte
	for head := make([]byte, 8); ; {
		if input.Buffered() == 0 { // nobody waits for an answer while requests are waiting
			output.Flush()
		}
		if _, err := io.ReadFull(input, head); err != nil {
			break
		}
		length := int(order.Uint32(head)) - 4
		if cap(body) < length {
			body = make([]byte, length)
		}
		body = body[:length]
		if _, err := io.ReadFull(input, body); err != nil {
			os.Exit(1)
		}
		response = append(response[:0], head...)
		letter, inner := body[0], byte(0)
		if letter == 'B' {
			inner = body[1]
		}
		if letter == 'P' {
			response = append(append(response, 'A'), body[1:]...)
		} else if run := operations[letter]; run != nil {
			response = single(run, body[1:], response)
		} else if run := operations[inner]; run != nil {
			size := 4
			if strings.IndexByte("EFZ", inner) >= 0 { // these answer with octets
				size = 1
			}
			response = batch(run, size, body[2:], response)
		} else {
			response = append(response, 'U')
		}
		order.PutUint32(response, uint32(len(response)-4))
		output.Write(response)
	}
	output.Flush()
}
