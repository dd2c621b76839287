module overlong-gomodule

go 1.19

require (
	github.com/segmentio/asm v1.2.0
	golang.org/x/text v0.22.0
)

require golang.org/x/sys v0.0.0-20220412211240-33da011f77ad // indirect
