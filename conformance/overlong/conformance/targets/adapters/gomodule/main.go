// Adapter for decoders of the Go module proxy: overlong-gomodule x-text|x-text-runes|segmentio-asm
// It is built in a folder with go_frames.go.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	segmentio "github.com/segmentio/asm/utf8"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// Decodes chunks with one Transformer, as its interface requires: octets that it did not take precede the next chunk.
func chunks(transformer transform.Transformer, octets []byte, lengths []uint32, marked bool, out *answer) *refusal {
	var kept []byte
	first, taken := len(out.units), 0
	for chunk, length := range lengths {
		src, last := append(kept, octets[:length]...), chunk+1 == len(lengths)
		octets = octets[length:]
		dst := make([]byte, 3*len(src)+16) // at most a U+FFFD for each octet
		written, read, err := transformer.Transform(dst, src, last)
		out.text(string(dst[:written]))
		if errors.Is(err, encoding.ErrInvalidUTF8) {
			refused := &refusal{offset: sent(taken + read), incomplete: 0xFF}
			if marked {
				refused.chunk = uint32(chunk) + 1
			}
			return refused
		}
		if err != nil && (last || !errors.Is(err, transform.ErrShortSrc)) {
			panic(err)
		}
		kept, taken = append([]byte{}, src[read:]...), taken+read
		if marked {
			out.marks = order.AppendUint32(out.marks, uint32(len(out.units)-first)/4)
		}
	}
	return nil
}

// The chunks at the start of a payload.
func split(payload []byte) ([]byte, []uint32) {
	lengths := make([]uint32, order.Uint16(payload))
	for i := range lengths {
		lengths[i] = order.Uint32(payload[2+4*i:])
	}
	return payload[2+4*len(lengths):], lengths
}

// A maker of Transformers as the operations of whole inputs, of streams, and of streams with one used before. One
// Transformer serves all whole inputs: the test includes that no input affects the next.
func operations(whole, stream, again byte, make func() transform.Transformer) map[byte]operation {
	kept := make()
	return map[byte]operation{
		whole: func(octets []byte, out *answer) *refusal {
			kept.Reset()
			return chunks(kept, octets, []uint32{uint32(len(octets))}, false, out)
		},
		stream: func(payload []byte, out *answer) *refusal {
			octets, lengths := split(payload)
			return chunks(make(), octets, lengths, true, out)
		},
		again: func(payload []byte, out *answer) *refusal {
			transformer, end := make(), 4+order.Uint32(payload)
			octets, lengths := split(payload[4:end])
			chunks(transformer, octets, lengths, true, &answer{}) // its answer is not needed
			transformer.Reset()
			octets, lengths = split(payload[end:])
			return chunks(transformer, octets, lengths, true, out)
		},
	}
}

// Its assembly takes over 32 octets; shorter inputs go to the standard library.
var ahead = bytes.Repeat([]byte("a"), 64)

func validate(octets []byte, out *answer) *refusal {
	if !segmentio.Valid(append(ahead[:len(ahead):len(ahead)], octets...)) {
		return silent
	}
	return nil
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version + ", " + runtime.Version()
			}
		}
	}
	return ""
}

const text, marked = "golang.org/x/text", `, "stream_refusals": "marked", "stream_offsets": "stream"`

func main() {
	mode := ""
	if len(os.Args) == 2 {
		mode = os.Args[1]
	}
	switch mode {
	case "x-text":
		offered := operations('D', 'S', 'N', func() transform.Transformer { return encoding.UTF8Validator })
		for letter, run := range operations('L', 'T', 'M', func() transform.Transformer { return unicode.UTF8.NewDecoder() }) {
			offered[letter] = run
		}
		serve("go-x-text", version(text), `, "error_mode": "replacement"`+marked, offered)
	case "x-text-runes":
		serve("go-x-text-runes", version(text), `, "error_mode": "replacement-per-octet"`,
			operations('L', 'T', 'M', func() transform.Transformer { return runes.ReplaceIllFormed() }))
	case "segmentio-asm":
		serve("go-segmentio-asm", version("github.com/segmentio/asm"), `, "placed": "behind 64 octets of ASCII"`,
			map[byte]operation{'V': validate})
	default:
		fmt.Fprintln(os.Stderr, "usage: overlong-gomodule x-text|x-text-runes|segmentio-asm")
		os.Exit(2)
	}
}
