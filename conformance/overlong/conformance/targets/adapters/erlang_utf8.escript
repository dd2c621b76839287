#!/usr/bin/env escript
%%! -noinput
%% Adapter for Erlang's decoders: escript erlang_utf8.escript unicode|bit-syntax
%% "unicode" is the module of that name; "bit-syntax" is what patterns like <<C/utf8, Rest/binary>> match.
-mode(compile).

main([Name]) when Name =:= "unicode"; Name =:= "bit-syntax" ->
    Decoder = list_to_atom(Name),
    Out = open_port({fd, 1, 1}, [out, binary]),
    port_command(Out, io_lib:format(
        "{\"overlong\": 1, \"name\": \"erlang-~s\", \"version\": \"Erlang/OTP ~s, ERTS ~s\", \"language\": \"Erlang\", "
        "\"operations\": \"~s\", \"units\": \"utf-32\", \"stream_offsets\": \"kept\", \"stream_refusals\": \"marked\"}\n",
        [Name, erlang:system_info(otp_release), erlang:system_info(version), "PB" ++ operations(Decoder)])),
    serve(Decoder, open_port({fd, 0, 0}, [in, binary, eof, {packet, 4}]), Out);
main(_) ->
    io:put_chars(standard_error, "name unicode or bit-syntax\n"),
    halt(1).

operations(unicode) -> "DSEF";
operations('bit-syntax') -> "DE".

serve(Decoder, In, Out) ->
    receive
        {In, {data, <<Request:32, Operation, Payload/binary>>}} ->
            Response = respond(Decoder, Operation, Payload),
            port_command(Out, [<<(4 + iolist_size(Response)):32, Request:32>>, Response]),
            serve(Decoder, In, Out);
        {In, eof} ->
            halt(0)
    end.

respond(_, $P, Payload) ->
    [$A, Payload];
respond(Decoder, $B, <<Operation, Count:32, Rest/binary>>) ->
    <<Lengths:(4 * Count)/binary, Octets/binary>> = Rest,
    case lists:member(Operation, operations(Decoder)) of
        true -> [$A | columns([ask(Decoder, Operation, Item) || Item <- pieces(Lengths, Octets)])];
        false -> [$U]
    end;
respond(Decoder, Operation, Payload) ->
    case lists:member(Operation, operations(Decoder)) of
        true -> single(ask(Decoder, Operation, Payload));
        false -> [$U]
    end.

pieces(<<>>, _) -> [];
pieces(<<Length:32, Lengths/binary>>, Octets) ->
    <<Item:Length/binary, Rest/binary>> = Octets,
    [Item | pieces(Lengths, Rest)].

%% What the module returns as the rest of a long text is a list of binaries.
%% An answer: {accepted, Number, Output, Marks} or {refused, Offset, Incomplete, Chunk}, where Marks and Chunk are octets.
ask(Decoder, $D, Octets) ->
    case decode(Decoder, Octets) of
        {ok, Points} -> accepted(Points, <<>>);
        {error, _, Rest} -> {refused, byte_size(Octets) - iolist_size(Rest), 0, <<>>};
        {incomplete, _, Rest} -> {refused, byte_size(Octets) - iolist_size(Rest), 1, <<>>};
        {refused, Rest} -> {refused, byte_size(Octets) - iolist_size(Rest), 255, <<>>}
    end;
ask(_, $S, <<Count:16, Rest/binary>>) ->
    <<Lengths:(4 * Count)/binary, Octets/binary>> = Rest,
    stream(pieces(Lengths, Octets), 1, <<>>, [], 0, <<>>);
ask(unicode, $E, Payload) ->
    encoded(unicode:characters_to_binary([Point || <<Point:32>> <= Payload]));
ask('bit-syntax', $E, Payload) ->
    encode([Point || <<Point:32>> <= Payload], 0, <<>>);
ask(_, $F, Payload) ->
    case unicode:characters_to_binary(Payload, {utf16, big}, utf8) of
        Octets when is_binary(Octets) -> {accepted, byte_size(Octets), Octets, <<>>};
        {_, _, Rest} -> {refused, (byte_size(Payload) - iolist_size(Rest)) div 2, 255, <<>>}
    end.

decode(unicode, Octets) ->
    case unicode:characters_to_list(Octets) of
        Points when is_list(Points) -> {ok, Points};
        Refusal -> Refusal
    end;
decode('bit-syntax', Octets) ->
    match(Octets, []).

match(<<Point/utf8, Rest/binary>>, Points) -> match(Rest, [Point | Points]);
match(<<>>, Points) -> {ok, lists:reverse(Points)};
match(Rest, _) -> {refused, Rest}.

%% Incomplete octets are kept and put before the next chunk, as the module's documentation says.
stream([Chunk | Chunks], Number, Kept, Points, Out, Marks) ->
    Octets = <<Kept/binary, Chunk/binary>>,
    case unicode:characters_to_list(Octets) of
        More when is_list(More) ->
            next(Chunks, Number, <<>>, More, Points, Out, Marks);
        {incomplete, More, Rest} when Chunks =/= [] ->
            next(Chunks, Number, iolist_to_binary(Rest), More, Points, Out, Marks);
        {Reason, _, Rest} ->
            {refused, byte_size(Octets) - iolist_size(Rest), flag(Reason), <<Number:32>>}
    end.

next(Chunks, Number, Kept, More, Points, Out, Marks) ->
    Now = Out + length(More),
    Marked = <<Marks/binary, Now:32>>,
    case Chunks of
        [] -> accepted(lists:append(lists:reverse(Points, [More])), Marked);
        _ -> stream(Chunks, Number + 1, Kept, [More | Points], Now, Marked)
    end.

flag(incomplete) -> 1;
flag(error) -> 0.

accepted(Points, Marks) -> {accepted, length(Points), << <<Point:32>> || Point <- Points >>, Marks}.

%% The index of the refused character: the number of characters encoded before it.
encoded(Octets) when is_binary(Octets) -> {accepted, byte_size(Octets), Octets, <<>>};
encoded({_, Before, _}) -> {refused, length(unicode:characters_to_list(Before)), 255, <<>>}.

encode([], _, Octets) -> {accepted, byte_size(Octets), Octets, <<>>};
encode([Point | Points], Index, Octets) ->
    try <<Octets/binary, Point/utf8>> of
        More -> encode(Points, Index + 1, More)
    catch
        error:badarg -> {refused, Index, 255, <<>>}
    end.

single({accepted, _, Output, Marks}) -> [$A, Marks, Output];
single({refused, Offset, Incomplete, Chunk}) -> [$R, <<Offset:32, 0, Incomplete>>, Chunk].

columns(Answers) ->
    [
        << <<(status(Answer))>> || Answer <- Answers >>,
        << <<(element(2, Answer)):32>> || Answer <- Answers >>,
        binary:copy(<<0>>, length(Answers)),
        << <<(incomplete(Answer))>> || Answer <- Answers >>,
        [Output || {accepted, _, Output, _} <- Answers],
        [element(4, Answer) || Answer <- Answers]
    ].

status({accepted, _, _, _}) -> $A;
status({refused, _, _, _}) -> $R.

incomplete({accepted, _, _, _}) -> 0;
incomplete({refused, _, Incomplete, _}) -> Incomplete.
