(* An adapter: a UTF-8 decoder behind two pipes. Change decode, and add its "version" to the greeting. OCaml 4.08+.
   Build:   ocamlopt -I +uutf uutf.cmxa adapter.ml -o adapter        (needs libuutf-ocaml-dev, or opam's uutf)
   Certify: overlong certify -- ./adapter        (--subject FILE before -- names a file of your decoder, too) *)

(* YOUR DECODER HERE: Ok and a list of code points, or Error and the offset of the flaw (-1: not said). What it raises
   is taken for a bug. In OCaml 4.14 or later String.get_utf_8_uchar is the standard library's own; this is Uutf. *)
let decode octets =
  let add decoded place next =
    match decoded, next with
    | Error _, _ -> decoded
    | Ok points, `Uchar point -> Ok (Uchar.to_int point :: points)
    | Ok _, `Malformed _ -> Error place
  in
  Result.map List.rev (Uutf.String.fold_utf_8 add (Ok []) octets)

let u32 buffer number = Buffer.add_int32_be buffer (Int32.of_int number)
let number octets place = Int32.to_int (String.get_int32_be octets place) land 0xFFFFFFFF

(* Decodes inputs of these sizes, from this place on. Columns: statuses, numbers, lengths, incompletes, output. *)
let judge operation sizes payload place =
  let columns = Array.init 5 (fun _ -> Buffer.create 64) in
  let add status number incomplete units =
    Buffer.add_char columns.(0) status; u32 columns.(1) number;
    Buffer.add_char columns.(2) '\000'; Buffer.add_char columns.(3) incomplete; List.iter (u32 columns.(4)) units
  in
  let one place size =
    (match decode (String.sub payload place size) with
     | Ok points -> let units = if operation = 'D' then points else [] in add 'A' (List.length units) '\000' units
     | Error offset -> add 'R' (if offset < -1 || offset > 0xFFFFFFFE then -2 (* a wrong one *) else offset) '\255' []
     | exception bug ->
       let words = Printexc.to_string bug in
       add 'X' (String.length words) '\000' []; Buffer.add_string columns.(4) words);
    place + size
  in
  ignore (List.fold_left one place sizes);
  Array.map Buffer.contents columns

(* P echoes, V validates, D decodes, B does V or D to many inputs. *)
let respond operation payload =
  match operation with
  | 'P' -> "A" ^ payload
  | 'V' | 'D' ->
    let parts = judge operation [String.length payload] payload 0 in
    if parts.(0) = "R" then String.concat "" (Array.to_list parts) else parts.(0) ^ parts.(4)
  | 'B' ->
    let count = number payload 1 in
    let sizes = List.init count (fun item -> number payload (5 + 4 * item)) in
    "A" ^ String.concat "" (Array.to_list (judge payload.[0] sizes payload (5 + 4 * count)))
  | _ -> "U" (* not offered *)

let () =
  set_binary_mode_in stdin true; set_binary_mode_out stdout true;
  print_endline {|{"overlong": 1, "language": "OCaml", "operations": "PVDB"}|};
  try while true do
    let head = really_input_string stdin 8 in
    let body = really_input_string stdin (number head 0 - 4) in
    let response = respond body.[0] (String.sub body 1 (String.length body - 1)) in
    let frame = Buffer.create 8 in u32 frame (String.length response + 4);
    print_string (Buffer.contents frame ^ String.sub head 4 4 ^ response); flush stdout
  done with End_of_file -> ()
