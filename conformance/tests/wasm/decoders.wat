;; Decoders written by hand: right ones, and others that each do one thing wrong.
(module
  (memory (export "memory") 1 4096)
  (global $calls (mut i32) (i32.const 0))

  ;; What must follow: least octet << 16 | greatest octet << 8 | octets to come; 0 between characters, -1 never.
  (func $after (param $state i32) (param $octet i32) (result i32)
    (local $left i32)
    (if (i32.eqz (local.get $state)) (then
      (if (i32.lt_u (local.get $octet) (i32.const 0x80)) (then (return (i32.const 0))))
      (if (i32.lt_u (local.get $octet) (i32.const 0xC2)) (then (return (i32.const -1))))
      (if (i32.lt_u (local.get $octet) (i32.const 0xE0)) (then (return (i32.const 0x80BF01))))
      (if (i32.eq (local.get $octet) (i32.const 0xE0)) (then (return (i32.const 0xA0BF02))))
      (if (i32.eq (local.get $octet) (i32.const 0xED)) (then (return (i32.const 0x809F02))))
      (if (i32.lt_u (local.get $octet) (i32.const 0xF0)) (then (return (i32.const 0x80BF02))))
      (if (i32.eq (local.get $octet) (i32.const 0xF0)) (then (return (i32.const 0x90BF03))))
      (if (i32.lt_u (local.get $octet) (i32.const 0xF4)) (then (return (i32.const 0x80BF03))))
      (if (i32.eq (local.get $octet) (i32.const 0xF4)) (then (return (i32.const 0x808F03))))
      (return (i32.const -1))))
    (if (i32.lt_u (local.get $octet) (i32.shr_u (local.get $state) (i32.const 16))) (then (return (i32.const -1))))
    (if (i32.gt_u (local.get $octet) (i32.and (i32.shr_u (local.get $state) (i32.const 8)) (i32.const 0xFF)))
      (then (return (i32.const -1))))
    (local.set $left (i32.sub (i32.and (local.get $state) (i32.const 0xFF)) (i32.const 1)))
    (select (i32.or (i32.const 0x80BF00) (local.get $left)) (i32.const 0) (local.get $left)))

  ;; The offset of what is ill-formed, or the length.
  (func $errpos (export "errpos") (param $at i32) (param $length i32) (result i32)
    (local $place i32) (local $start i32) (local $state i32)
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $place) (local.get $length)))
        (if (i32.eqz (local.get $state)) (then (local.set $start (local.get $place))))
        (local.set $state (call $after (local.get $state)
          (i32.load8_u (i32.add (local.get $at) (local.get $place)))))
        (if (i32.eq (local.get $state) (i32.const -1)) (then (return (local.get $start))))
        (local.set $place (i32.add (local.get $place) (i32.const 1)))
        (br $next)))
    (select (local.get $start) (local.get $length) (local.get $state)))

  (func $valid (export "valid") (param $at i32) (param $length i32) (result i32)
    (i32.eq (call $errpos (local.get $at) (local.get $length)) (local.get $length)))

  (func (export "result") (param $to i32) (param $at i32) (param $length i32)
    (local $place i32)
    (local.set $place (call $errpos (local.get $at) (local.get $length)))
    (i32.store (local.get $to) (i32.ne (local.get $place) (local.get $length)))
    (i32.store offset=4 (local.get $to) (local.get $place)))

  ;; glib(ptr,len,end)
  (func (export "with_end") (param $at i32) (param $length i32) (param $end i32) (result i32)
    (local $place i32)
    (local.set $place (call $errpos (local.get $at) (local.get $length)))
    (i32.store (local.get $end) (i32.add (local.get $at) (local.get $place)))
    (i32.eq (local.get $place) (local.get $length)))

  (func $string (export "string") (param $at i32) (result i32)
    (local $length i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (i32.load8_u (i32.add (local.get $at) (local.get $length)))))
        (local.set $length (i32.add (local.get $length) (i32.const 1)))
        (br $next)))
    (call $valid (local.get $at) (local.get $length)))

  ;; Writes the code point that begins at $at where $to says; the octets that it has.
  (func $one (param $at i32) (param $to i32) (result i32)
    (local $octet i32)
    (local.set $octet (i32.load8_u (local.get $at)))
    (if (i32.lt_u (local.get $octet) (i32.const 0x80)) (then
      (i32.store (local.get $to) (local.get $octet)) (return (i32.const 1))))
    (if (i32.lt_u (local.get $octet) (i32.const 0xE0)) (then
      (i32.store (local.get $to) (i32.or (call $tail (local.get $at) (i32.const 1) (i32.const 0))
        (i32.shl (i32.and (local.get $octet) (i32.const 0x1F)) (i32.const 6))))
      (return (i32.const 2))))
    (if (i32.lt_u (local.get $octet) (i32.const 0xF0)) (then
      (i32.store (local.get $to) (i32.or (i32.or
        (call $tail (local.get $at) (i32.const 2) (i32.const 0)) (call $tail (local.get $at) (i32.const 1) (i32.const 6)))
        (i32.shl (i32.and (local.get $octet) (i32.const 0xF)) (i32.const 12))))
      (return (i32.const 3))))
    (i32.store (local.get $to) (i32.or (i32.or (i32.or
      (call $tail (local.get $at) (i32.const 3) (i32.const 0)) (call $tail (local.get $at) (i32.const 2) (i32.const 6)))
      (call $tail (local.get $at) (i32.const 1) (i32.const 12)))
      (i32.shl (i32.and (local.get $octet) (i32.const 7)) (i32.const 18))))
    (i32.const 4))
  (func $tail (param $at i32) (param $place i32) (param $shift i32) (result i32)
    (i32.shl (i32.and (i32.load8_u (i32.add (local.get $at) (local.get $place))) (i32.const 0x3F)) (local.get $shift)))

  (func $utf32 (export "utf32") (param $at i32) (param $length i32) (param $out i32) (param $room i32) (result i32)
    (local $place i32) (local $count i32)
    (if (i32.eqz (call $valid (local.get $at) (local.get $length))) (then (return (i32.const -1))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $place) (local.get $length)))
        (local.set $place (i32.add (local.get $place) (call $one
          (i32.add (local.get $at) (local.get $place))
          (select (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))) (i32.const 64)
            (i32.lt_u (local.get $count) (local.get $room))))))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (br $next)))
    (local.get $count))

  ;; From here on they are wrong.

  (func (export "over_read") (param $at i32) (param $length i32) (result i32)
    (drop (i32.load8_u (i32.add (local.get $at) (local.get $length))))
    (call $valid (local.get $at) (local.get $length)))

  (func (export "surrogates") (param $at i32) (param $length i32) (result i32)
    (if (i32.eq (local.get $length) (i32.const 3)) (then
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0xED)) (then (return (i32.const 1))))))
    (call $valid (local.get $at) (local.get $length)))

  (func (export "endless") (param $at i32) (param $length i32) (result i32)
    (if (i32.eq (local.get $length) (i32.const 1)) (then
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0xFF)) (then (loop $ever (br $ever))))))
    (call $valid (local.get $at) (local.get $length)))

  (func (export "unreachable") (param $at i32) (param $length i32) (result i32)
    (if (i32.eq (local.get $length) (i32.const 1)) (then
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0xFF)) (then (unreachable)))))
    (call $valid (local.get $at) (local.get $length)))

  ;; Takes all the memory that there is.
  (func (export "hog") (param $at i32) (param $length i32) (result i32)
    (if (i32.eq (local.get $length) (i32.const 1)) (then
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))))
    (call $valid (local.get $at) (local.get $length)))

  ;; Never frees a page, and is right all the same.
  (func (export "leak") (param $at i32) (param $length i32) (result i32)
    (drop (memory.grow (i32.const 1)))
    (call $valid (local.get $at) (local.get $length)))

  ;; Holds all memory that there is for its own, and uses it from the second page on.
  (global $heap (mut i32) (i32.const 65536))
  (func (export "takes_all") (param $at i32) (param $length i32) (result i32)
    (i32.store (global.get $heap) (local.get $length))
    (global.set $heap (i32.add (global.get $heap) (i32.const 4)))
    (call $valid (local.get $at) (local.get $length)))

  (func (export "writes_to_input") (param $at i32) (param $length i32) (result i32)
    (local $answer i32)
    (local.set $answer (call $valid (local.get $at) (local.get $length)))
    (if (local.get $length) (then (i32.store8 (local.get $at) (i32.const 0))))
    (local.get $answer))

  (func (export "depends_on_place") (param $at i32) (param $length i32) (result i32)
    (if (i32.eq (i32.and (local.get $at) (i32.const 7)) (i32.const 5)) (then (return (i32.const 1))))
    (call $valid (local.get $at) (local.get $length)))

  (func (export "counts_calls") (param $at i32) (param $length i32) (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (if (i32.eqz (i32.rem_u (global.get $calls) (i32.const 13))) (then (return (i32.const 0))))
    (call $valid (local.get $at) (local.get $length)))

  (func (export "over_write") (param $at i32) (param $length i32) (param $out i32) (param $room i32) (result i32)
    (local $count i32)
    (local.set $count (call $utf32 (local.get $at) (local.get $length) (local.get $out) (local.get $room)))
    (if (i32.gt_s (local.get $count) (i32.const 0)) (then
      (i32.store (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))) (i32.const 0))))
    (local.get $count))

  (func (export "unwritten") (param $at i32) (param $length i32) (param $out i32) (param $room i32) (result i32)
    (local $count i32)
    (local.set $count (call $utf32 (local.get $at) (local.get $length) (local.get $out) (i32.const 3)))
    (local.get $count))

  (func (export "of_floats") (param $at f64) (param $length i32) (result i32) (i32.const 1))
)
