// An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
// Build:   go build -o adapter adapter.go
// Certify: overlong certify -- ./adapter        (--subject FILE before -- names a file of your decoder, too)
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
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

// P echoes, V validates, D decodes. A function that counts, cuts or steps answers Q: 'overlong docs functions'.
func respond(operation byte, payload []byte) []byte {
	if operation == 'P' {
		return append([]byte{'A'}, payload...)
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
	responses.WriteString(`{"overlong": 1, "language": "Go", "operations": "PVD"}` + "\n")
	head := make([]byte, 8)
	for _, err := io.ReadFull(requests, head); err == nil; _, err = io.ReadFull(requests, head) {
		body := make([]byte, binary.BigEndian.Uint32(head)-4)
		io.ReadFull(requests, body)
		response := respond(body[0], body[1:])
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(4+len(response))), head[4:]...)
		responses.Write(append(frame, response...)) // in one call, and not buffered
	}
}
