# Adapter for Tcl's decoder: tclsh tcl_utf8.tcl
# "encoding convertfrom utf-8", and a channel whose encoding is utf-8. Neither refuses anything in Tcl 8.
# Scripts see a string of Tcl 8 as UTF-16, so the answer is UTF-16: the encoding "unicode" writes it.

# An operation answers each payload with three elements: a status, output, and marks.

proc L {payloads} {
    foreach octets $payloads {
        lappend answers A [encoding convertto unicode [encoding convertfrom utf-8 $octets]] {}
    }
    return $answers
}

# A stream: the u16 number of chunks, their lengths, their octets. Each chunk is written to a pipe, and the other
# end is read at once. Closing the pipe before the last read ends the stream.
proc T {payloads} {
    foreach payload $payloads {
        binary scan $payload Su count
        binary scan $payload x2Iu$count lengths
        lassign [chan pipe] reading writing
        chan configure $writing -translation binary -buffering none
        chan configure $reading -translation lf -encoding utf-8 -eofchar {} -blocking 0
        set place [expr {2 + 4 * $count}]
        set left $count
        set output {}
        set marks {}
        foreach length $lengths {
            puts -nonewline $writing [string range $payload $place [expr {$place + $length - 1}]]
            incr place $length
            if {[incr left -1] == 0} {
                close $writing
                chan configure $reading -blocking 1 ;# or the last octets are kept for a read after this one
            }
            append output [encoding convertto unicode [read $reading]]
            lappend marks [expr {[string length $output] / 2}]
        }
        close $reading
        lappend answers A $output [binary format I* $marks]
    }
    return $answers
}

# Strings are built unit by unit: "format %c" of a character of two units gives U+FFFD.
proc E {payloads} {
    foreach payload $payloads {
        binary scan $payload Iu* numbers
        set text {}
        set status A
        foreach number $numbers {
            if {$number > 0x10FFFF} {
                set status R ;# no string can hold it
                set text {}
                break
            }
            if {$number > 0xFFFF} {
                append text [format %c [expr {0xD7C0 + ($number >> 10)}]]
                set number [expr {0xDC00 | ($number & 0x3FF)}]
            }
            append text [format %c $number]
        }
        lappend answers $status [encoding convertto utf-8 $text] {}
    }
    return $answers
}

proc F {payloads} {
    foreach payload $payloads {
        binary scan $payload Su* units
        set text {}
        foreach unit $units {append text [format %c $unit]}
        lappend answers A [encoding convertto utf-8 $text] {}
    }
    return $answers
}

# Octets in a unit of an operation's output.
array set size {L 2 T 2 E 1 F 1}

# From the machine's byte order to the protocol's.
proc big_endian {operation output} {
    if {$::size($operation) == 1 || $::tcl_platform(byteOrder) eq "bigEndian"} {return $output}
    binary scan $output s* units
    return [binary format S* $units]
}

proc batch {operation payload} {
    binary scan $payload Iu count
    if {$count == 0} {return A}
    binary scan $payload x4Iu$count lengths
    set place [expr {4 + 4 * $count}]
    foreach length $lengths {
        lappend payloads [string range $payload $place [expr {$place + $length - 1}]]
        incr place $length
    }
    set unit $::size($operation)
    foreach {status output marked} [$operation $payloads] {
        append statuses $status
        append outputs $output
        append marks $marked
        lappend numbers [expr {$status eq "A" ? [string length $output] / $unit : 0xFFFFFFFF}]
        lappend incompletes [expr {$status eq "A" ? 0 : 255}]
    }
    return A$statuses[binary format I*x${count}c* $numbers $incompletes][big_endian $operation $outputs]$marks
}

proc respond {body} {
    set operation [string index $body 0]
    set inner [string index $body 1]
    if {$operation eq "P"} {return A[string range $body 1 end]}
    if {$operation eq "B" && [info exists ::size($inner)]} {return [batch $inner [string range $body 2 end]]}
    if {![info exists ::size($operation)]} {return U}
    lassign [$operation [list [string range $body 1 end]]] status output marks
    return $status$marks[big_endian $operation $output]
}

if {$argv eq "version"} {
    puts "Tcl [info patchlevel]"
    exit
}
chan configure stdin -translation binary -buffersize 262144
chan configure stdout -translation binary -buffersize 262144
puts "{\"overlong\": 1, \"name\": \"tcl\", \"version\": \"Tcl [info patchlevel]\", \"language\": \"Tcl\",\
    \"operations\": \"PB[join [lsort [array names size]] {}]\", \"units\": \"utf-16\",\
    \"error_mode\": \"iso-8859-1\", \"encode_errors\": \"fatal\"}"
flush stdout
while {[string length [set head [read stdin 8]]] == 8} {
    binary scan $head Iu length
    set response [respond [read stdin [expr {$length - 4}]]]
    puts -nonewline [binary format I [expr {4 + [string length $response]}]][string range $head 4 7]$response
    flush stdout
}
