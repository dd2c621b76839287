// Adapter for Go's standard library: go_utf8 utf8|tovalidutf8|functions
// Build: go build -o go_utf8 go_utf8.go go_frames.go
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func valid(octets []byte, out *answer) *refusal {
	if !utf8.Valid(octets) {
		return silent
	}
	return nil
}

// Strict, like a Go program: DecodeRune reports an error by U+FFFD with a width of 1. The width is always 1, so it
// does not give the length of the ill-formed octets.
func decode(octets []byte, out *answer) *refusal {
	for place := 0; place < len(octets); {
		r, width := utf8.DecodeRune(octets[place:])
		if r == utf8.RuneError && width == 1 {
			said := &refusal{offset: sent(place)}
			if !utf8.FullRune(octets[place:]) {
				said.incomplete = 1
			}
			return said
		}
		out.number(uint32(r))
		place += width
	}
	return nil
}

func rangeLoop(octets []byte, out *answer) *refusal {
	out.text(string(octets))
	return nil
}

func toValid(octets []byte, out *answer) *refusal {
	out.text(strings.ToValidUTF8(string(octets), "\uFFFD"))
	return nil
}

// A number as a rune. A rune is signed: a number that does not fit becomes -1, which is also invalid.
func toRune(octets []byte) rune {
	if number := order.Uint32(octets); number <= 0x7FFFFFFF {
		return rune(number)
	}
	return -1
}

func encode(octets []byte, out *answer) *refusal {
	for place := 0; place+4 <= len(octets); place += 4 {
		out.units = utf8.AppendRune(out.units, toRune(octets[place:]))
	}
	return nil
}

func encodeUTF16(octets []byte, out *answer) *refusal {
	units := make([]uint16, len(octets)/2)
	for i := range units {
		units[i] = order.Uint16(octets[2*i:])
	}
	for _, r := range utf16.Decode(units) {
		out.units = utf8.AppendRune(out.units, r)
	}
	return nil
}

func announce(octets []byte, out *answer) *refusal {
	size := 0
	for place := 0; place+4 <= len(octets); place += 4 {
		length := utf8.RuneLen(toRune(octets[place:]))
		if length < 0 { // AppendRune would write three octets, but RuneLen is -1
			return &refusal{offset: sent(place / 4)}
		}
		size += length
	}
	out.number(uint32(size))
	return nil
}

// The numbers of questions, as 'overlong docs functions' lists them.
const countScalars, trimPartial, next, previous = 1, 9, 10, 11

func ask(payload []byte, out *answer) *refusal {
	place, octets := int(order.Uint32(payload[1:])), payload[5:]
	switch payload[0] {
	case countScalars:
		out.number(uint32(utf8.RuneCount(octets)))
	case trimPartial:
		out.number(uint32(trim(octets)))
	case next:
		r, width := utf8.DecodeRune(octets[place:])
		out.number(uint32(r))
		out.number(uint32(width))
	case previous:
		r, width := utf8.DecodeLastRune(octets[:place])
		out.number(uint32(r))
		out.number(uint32(width))
	default:
		return silent
	}
	return nil
}

// As the documentation of FullRune suggests: what is no full rune may become one, so it is left for later.
func trim(octets []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(octets); back++ {
		if start := len(octets) - back; utf8.RuneStart(octets[start]) {
			if !utf8.FullRune(octets[start:]) {
				return start
			}
			break
		}
	}
	return len(octets)
}

func main() {
	switch mode := strings.Join(os.Args[1:], " "); mode {
	case "utf8":
		serve("go-utf8", runtime.Version(), `, "error_mode": "replacement-per-octet", "encode_errors": "replacement"`,
			map[byte]operation{'V': valid, 'D': decode, 'L': rangeLoop, 'E': encode, 'F': encodeUTF16, 'Z': announce})
	case "tovalidutf8":
		serve("go-tovalidutf8", runtime.Version(), `, "error_mode": "replacement-per-run"`,
			map[byte]operation{'L': toValid})
	case "functions":
		serve("go-functions", runtime.Version(),
			`, "functions": ["count-scalars", "trim-partial", "next", "previous"], "ill_formed": "single-octets"`,
			map[byte]operation{'Q': ask})
	default:
		fmt.Fprintln(os.Stderr, "usage: go_utf8 utf8|tovalidutf8|functions")
		os.Exit(2)
	}
}
