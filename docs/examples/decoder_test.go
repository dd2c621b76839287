package utf8vectors

import (
	"testing"
	"unicode/utf8"
)

func TestDecoder(t *testing.T) {
	for _, v := range Vectors {
		replaced := []rune(v.Octets)
		if accepted := utf8.ValidString(v.Octets); accepted != v.Accept || accepted && string(replaced) != string(v.Scalars) {
			t.Errorf("wrong: %s (%s)", v.ID, v.Comment)
		}
	}
	t.Logf("%d vectors", len(Vectors))
}
