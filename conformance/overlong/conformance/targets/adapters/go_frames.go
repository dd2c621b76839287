// The common code of the adapters for Go: frames and batches. Output is in UTF-32.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

const notSaid = 0xFFFFFFFF

// An offset as it is sent. One that does not fit becomes one that is wrong: cut to 32 bits it might be right.
func sent(offset int) uint32 {
	if offset < 0 || uint64(offset) >= notSaid {
		return notSaid - 1
	}
	return uint32(offset)
}

// Where a refusal happened; in a stream, also in which chunk, counted from 1.
type refusal struct {
	offset             uint32
	length, incomplete byte
	chunk              uint32
}

var silent = &refusal{notSaid, 0, 0xFF, 0}

// The output: units, and the marks of a stream.
type answer struct{ units, marks []byte }

// An operation appends its output to the answer, or refuses. Output before a refusal is dropped.
type operation func(payload []byte, out *answer) *refusal

var order = binary.BigEndian

func (out *answer) number(number uint32) { out.units = order.AppendUint32(out.units, number) }

func (out *answer) text(text string) {
	for _, r := range text {
		out.number(uint32(r))
	}
}

func single(run operation, payload, response []byte) []byte {
	out := &answer{}
	if refused := run(payload, out); refused != nil {
		response = append(order.AppendUint32(append(response, 'R'), refused.offset), refused.length, refused.incomplete)
		if refused.chunk > 0 {
			response = order.AppendUint32(response, refused.chunk)
		}
		return response
	}
	return append(append(append(response, 'A'), out.marks...), out.units...)
}

// size is the number of octets in a unit of the output.
func batch(run operation, size int, payload, response []byte) []byte {
	count := int(order.Uint32(payload))
	sizes, octets := payload[4:4+4*count], payload[4+4*count:]
	response = append(response, 'A')
	start := len(response)
	out := &answer{units: append(response, make([]byte, 7*count)...)}
	for item := 0; item < count; item++ {
		length, before, marked := order.Uint32(sizes[4*item:]), len(out.units), len(out.marks)
		refused := run(octets[:length:length], out)
		octets = octets[length:]
		columns := out.units[start:] // sliced again for each item: append may have moved it
		if refused == nil {
			columns[item] = 'A'
			order.PutUint32(columns[count+4*item:], uint32((len(out.units)-before)/size))
			continue
		}
		columns[item] = 'R'
		order.PutUint32(columns[count+4*item:], refused.offset)
		columns[5*count+item], columns[6*count+item] = refused.length, refused.incomplete
		out.units, out.marks = out.units[:before], out.marks[:marked]
		if refused.chunk > 0 {
			out.marks = order.AppendUint32(out.marks, refused.chunk)
		}
	}
	return append(out.units, out.marks...)
}

// Greets, then answers until the input ends. traits are further members of the greeting, in JSON.
func serve(name, version, traits string, operations map[byte]operation) {
	letters := "PB"
	for _, letter := range "VDLSTNMEFZQ" {
		if operations[byte(letter)] != nil {
			letters += string(letter)
		}
	}
	input, output := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	fmt.Fprintf(output, `{"overlong": 1, "name": %q, "version": %q, "language": "Go", "platform": "%s/%s", `+
		`"operations": "%s", "units": "utf-32"%s}`+"\n", name, version, runtime.GOOS, runtime.GOARCH, letters, traits)
	var body, response []byte
	for head := make([]byte, 8); ; {
		if input.Buffered() == 0 { // the harness still has requests in the pipe, so it can wait
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
