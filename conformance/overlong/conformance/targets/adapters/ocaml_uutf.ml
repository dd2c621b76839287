(* Adapter for Uutf, a decoder of OCaml: ocaml_uutf fold|decoder [VERSION]
   "fold" is Uutf.String.fold_utf_8, "decoder" is Uutf.decoder, which takes chunks and always removes a byte order mark.
   Build: ocamlopt -I +uutf uutf.cmxa -o ocaml_uutf ocaml_uutf.ml *)

type answer =
  | Accepted of { number : int; output : string; marks : int list }
  | Refused of { offset : int; length : int; chunk : int option }

exception Malformed of int * int (* the offset and the number of octets *)

let add_u32 buffer number = Buffer.add_int32_be buffer (Int32.of_int number)
let get_u32 octets place = Int32.to_int (String.get_int32_be octets place) land 0xFFFFFFFF
let add_unit buffer character = add_u32 buffer (Uchar.to_int character)

(* Its units. Malformed octets raise, or become U+FFFD, as in Uutf's own examples. *)
let fold strict octets =
  let units = Buffer.create (4 * String.length octets) in
  let take () place = function
    | `Uchar character -> add_unit units character
    | `Malformed malformed when strict -> raise (Malformed (place, String.length malformed))
    | `Malformed _ -> add_unit units Uutf.u_rep
  in
  Uutf.String.fold_utf_8 take () octets;
  units

let whole strict octets =
  match fold strict octets with
  | units -> Accepted { number = Buffer.length units / 4; output = Buffer.contents units; marks = [] }
  | exception Malformed (offset, length) -> Refused { offset; length; chunk = None }

(* Chunks of these lengths, and the output after each. An empty chunk would signal the end of the input. *)
let stream strict octets lengths =
  let decoder = Uutf.decoder ~encoding:`UTF_8 `Manual in
  let source = Bytes.unsafe_of_string octets in
  let units = Buffer.create (4 * String.length octets) in
  let rec drain () =
    match Uutf.decode decoder with
    | `Uchar character -> add_unit units character; drain ()
    | `Malformed malformed when strict ->
        raise (Malformed (Uutf.decoder_byte_count decoder - String.length malformed, String.length malformed))
    | `Malformed _ -> add_unit units Uutf.u_rep; drain ()
    | `Await | `End -> ()
  in
  let chunk = ref 0 and place = ref 0 in
  let feed length =
    incr chunk;
    if length > 0 then (Uutf.Manual.src decoder source !place length; drain ());
    place := !place + length;
    if !chunk = List.length lengths then (Uutf.Manual.src decoder source 0 0; drain ());
    Buffer.length units / 4
  in
  match List.map feed lengths with
  | marks -> Accepted { number = Buffer.length units / 4; output = Buffer.contents units; marks }
  | exception Malformed (offset, _) -> Refused { offset; length = 0; chunk = Some !chunk }

let chunked strict payload =
  let count = String.get_uint16_be payload 0 in
  let start = 2 + (4 * count) in
  let octets = String.sub payload start (String.length payload - start) in
  stream strict octets (List.init count (fun item -> get_u32 payload (2 + (4 * item))))

let unchunked strict octets =
  match stream strict octets [ String.length octets ] with
  | Accepted { number; output; _ } -> Accepted { number; output; marks = [] }
  | Refused { offset; _ } -> Refused { offset; length = 0; chunk = None }

let encode payload =
  let count = String.length payload / 4 in
  let octets = Buffer.create (4 * count) in
  let rec next index =
    if index = count then Accepted { number = Buffer.length octets; output = Buffer.contents octets; marks = [] }
    else
      let number = get_u32 payload (4 * index) in
      if Uchar.is_valid number then (Uutf.Buffer.add_utf_8 octets (Uchar.of_int number); next (index + 1))
      else Refused { offset = index; length = 0; chunk = None }
  in
  next 0

let operations = function
  | "fold" -> [ ('D', whole true); ('L', whole false); ('E', encode) ]
  | "decoder" -> [ ('D', unchunked true); ('L', unchunked false); ('S', chunked true); ('T', chunked false) ]
  | _ -> prerr_endline "name fold or decoder"; exit 1

let single response = function
  | Accepted { output; marks; _ } ->
      Buffer.add_char response 'A';
      List.iter (add_u32 response) marks;
      Buffer.add_string response output
  | Refused { offset; length; chunk } ->
      Buffer.add_char response 'R';
      add_u32 response offset;
      Buffer.add_uint8 response length;
      Buffer.add_uint8 response 255;
      Option.iter (add_u32 response) chunk

let batch response ask payload start =
  let count = get_u32 payload start in
  let place = ref (start + 4 + (4 * count)) in
  let item index =
    let length = get_u32 payload (start + 4 + (4 * index)) in
    let octets = String.sub payload !place length in
    place := !place + length;
    ask octets
  in
  let answers = Array.init count item in
  let column write = Array.iter write answers in
  Buffer.add_char response 'A';
  column (function Accepted _ -> Buffer.add_char response 'A' | Refused _ -> Buffer.add_char response 'R');
  column (function Accepted { number; _ } -> add_u32 response number | Refused { offset; _ } -> add_u32 response offset);
  column (function Accepted _ -> Buffer.add_uint8 response 0 | Refused { length; _ } -> Buffer.add_uint8 response length);
  column (function Accepted _ -> Buffer.add_uint8 response 0 | Refused _ -> Buffer.add_uint8 response 255);
  column (function Accepted { output; _ } -> Buffer.add_string response output | Refused _ -> ());
  column (function
    | Accepted { marks; _ } -> List.iter (add_u32 response) marks
    | Refused { chunk; _ } -> Option.iter (add_u32 response) chunk)

let respond operations response body =
  match body.[0] with
  | 'P' ->
      Buffer.add_char response 'A';
      Buffer.add_substring response body 1 (String.length body - 1)
  | 'B' when List.mem_assoc body.[1] operations -> batch response (List.assoc body.[1] operations) body 2
  | operation when List.mem_assoc operation operations ->
      single response (List.assoc operation operations (String.sub body 1 (String.length body - 1)))
  | _ -> Buffer.add_char response 'U'

let () =
  let name = if Array.length Sys.argv > 1 then Sys.argv.(1) else "" in
  let version = if Array.length Sys.argv > 2 then Sys.argv.(2) else "" in
  let operations = operations name in
  let more =
    if name = "fold" then "" else {|, "bom": "strips", "stream_offsets": "stream", "stream_refusals": "marked"|}
  in
  set_binary_mode_in stdin true;
  set_binary_mode_out stdout true;
  Printf.printf
    {|{"overlong": 1, "name": "ocaml-uutf-%s", "version": "Uutf %s, OCaml %s", "language": "OCaml", |} name version
    Sys.ocaml_version;
  Printf.printf {|"operations": "PB%s", "units": "utf-32", "error_mode": "replacement-per-length"%s}|}
    (String.of_seq (Seq.map fst (List.to_seq operations)))
    more;
  print_newline ();
  let response = Buffer.create 65536 and head = Buffer.create 8 in
  try
    while true do
      let request = really_input_string stdin 8 in
      let body = really_input_string stdin (get_u32 request 0 - 4) in
      Buffer.clear response;
      respond operations response body;
      Buffer.clear head;
      add_u32 head (4 + Buffer.length response);
      Buffer.add_string head (String.sub request 4 4);
      Buffer.output_buffer stdout head;
      Buffer.output_buffer stdout response;
      flush stdout
    done
  with End_of_file -> ()
