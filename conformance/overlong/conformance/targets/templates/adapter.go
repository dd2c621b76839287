// An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
// Build:   go build -o adapter adapter.go
// Certify: overlong certify -- ./adapter        (--subject FILE before -- names a file of your decoder, too)
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// YOUR DECODER HERE: code points and true; or, where it refuses, the offset of the flaw (-1: not said) and false.
func decode(octets []byte) (points []rune, offset int, accepted bool) {
	for place := 0; place < len(octets); {
		point, width := utf8.DecodeRune(octets[place:])
		if point == utf8.RuneError && width == 1 { // a width of 1: it is no U+FFFD of the input
			return nil, place, false
		}
		points = append(points, point)
		place += width
	}
	return points, 0, true
}

// FUNCTIONS beside it, if any: number and name of a question ('overlong docs functions'), and the answer; nil refuses.
var questions = []question{
	// {1, "count-scalars", func(text []byte, _ int) []int { return []int{utf8.RuneCount(text)} }},
}

type question struct {
	number byte
	name   string
	answer func(text []byte, argument int) []int
}

func ask(number byte, argument uint32, text []byte) []byte {
	for _, each := range questions {
		if each.number == number {
			numbers, response := each.answer(text, int(argument)), []byte{'A'}
			if numbers == nil {
				return []byte{'R'}
			}
			for _, number := range numbers {
				if int64(number) != int64(uint32(number)) {
					number = 1<<32 - 1 // out of range: cut to 32 bits, it might be right
				}
				response = binary.BigEndian.AppendUint32(response, uint32(number))
			}
			return response
		}
	}
	return []byte{'U'}
}

// P echoes, V validates, D decodes, Q asks a function.
func respond(operation byte, payload []byte) []byte {
	if operation == 'P' {
		return append([]byte{'A'}, payload...)
	} else if operation == 'Q' {
		return ask(payload[0], binary.BigEndian.Uint32(payload[1:]), payload[5:])
	} else if operation != 'V' && operation != 'D' {
		return []byte{'U'} // not offered. B would be: 'overlong docs protocol' describes batches, which save most of the time
	}
	points, offset, accepted := decode(payload)
	if !accepted && int64(offset) != int64(int32(offset)) {
		return []byte{'R', 255, 255, 255, 254} // a wrong offset: cut to 32 bits, it might be right
	} else if !accepted {
		return binary.BigEndian.AppendUint32([]byte{'R'}, uint32(offset))
	}
	response := []byte{'A'}
	for i := 0; i < len(points) && operation == 'D'; i++ {
		response = binary.BigEndian.AppendUint32(response, uint32(points[i]))
	}
	return response
}

func main() {
	requests, responses := bufio.NewReader(os.Stdin), os.Stdout
	os.Stdout = os.Stderr // what is printed from here on is no answer
	letters, names := "PVD", []string{}
	for _, each := range questions {
		letters, names = "PVDQ", append(names, `"`+each.name+`"`)
	}
	responses.WriteString(`{"overlong": 1, "language": "Go", "operations": "` + letters + `", "functions": [` +
		strings.Join(names, ", ") + "]}\n")
	head := make([]byte, 8)
	for _, err := io.ReadFull(requests, head); err == nil; _, err = io.ReadFull(requests, head) {
		body := make([]byte, binary.BigEndian.Uint32(head)-4)
		io.ReadFull(requests, body)
		response := respond(body[0], body[1:])
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(4+len(response))), head[4:]...)
		responses.Write(append(frame, response...)) // in one call, and not buffered
	}
}
