#!/usr/bin/env escript
%%! -noinput
%% An adapter: a UTF-8 decoder behind two pipes. Change decode, and add its "version" to the greeting.
%% Certify: overlong certify -- escript adapter.erl        (--subject FILE before -- names a file of your decoder, too)
-module(adapter).
-mode(compile).
-export([main/1]).

%% YOUR DECODER HERE: {ok, UTF-32 big-endian}, or {refused, the offset of the flaw (-1: not said)}. Errors are bugs.
decode(Octets) ->
    case unicode:characters_to_binary(Octets, utf8, {utf32, big}) of
        {_ErrorOrIncomplete, _, Rest} -> {refused, byte_size(Octets) - iolist_size(Rest)};
        Units -> {ok, Units}
    end.

%% Status, number, length and incomplete as they are sent, output.
answer(Operation, Octets) ->
    try decode(Octets) of
        {ok, _} when Operation =:= $V -> {<<"A">>, <<0:32>>, <<0>>, <<0>>, <<>>};
        {ok, Units} -> {<<"A">>, <<(byte_size(Units) div 4):32>>, <<0>>, <<0>>, Units};
        {refused, Offset} when Offset < -1; Offset > 16#FFFFFFFE -> {<<"R">>, <<-2:32>>, <<0>>, <<255>>, <<>>}; % wrong
        {refused, Offset} -> {<<"R">>, <<Offset:32>>, <<0>>, <<255>>, <<>>}
    catch Class:Reason ->
        Words = list_to_binary(io_lib:format("~w ~W", [Class, Reason, 20])),
        {<<"X">>, <<(byte_size(Words)):32>>, <<0>>, <<0>>, Words}
    end.

%% P echoes, V validates, D decodes, B does V or D to many inputs and answers in columns.
respond($P, Payload) -> [$A, Payload];
respond(Operation, Payload) when Operation =:= $V; Operation =:= $D ->
    case answer(Operation, Payload) of
        {<<"R">>, Offset, Length, Incomplete, _} -> [$R, Offset, Length, Incomplete];
        {Status, _, _, _, Output} -> [Status, Output]
    end;
respond($B, <<Operation, Count:32, Sizes:(4 * Count)/binary, Octets/binary>>) ->
    {Answers, <<>>} = lists:mapfoldl(fun(Size, Left) ->
        <<Input:Size/binary, Rest/binary>> = Left,
        {answer(Operation, Input), Rest}
    end, Octets, [Size || <<Size:32>> <= Sizes]),
    [$A | [[element(Column, Answer) || Answer <- Answers] || Column <- [1, 2, 3, 4, 5]]];
respond(_, _) -> [$U]. % not offered

main(_) ->
    Pipes = open_port({fd, 0, 1}, [stream, binary, eof]), % octets as they are: standard_io would decode them
    port_command(Pipes, "{\"overlong\": 1, \"language\": \"Erlang\", \"operations\": \"PVDB\"}\n"),
    serve(Pipes, []).

serve(Pipes, Had) ->
    receive
        {Pipes, {data, Octets}} -> serve(Pipes, answer_all(Pipes, iolist_to_binary([Had, Octets])));
        {Pipes, eof} -> halt(0)
    end.

answer_all(Pipes, <<Size:32, Frame:Size/binary, Rest/binary>>) ->
    <<Request:32, Operation, Payload/binary>> = Frame,
    Response = iolist_to_binary(respond(Operation, Payload)),
    port_command(Pipes, [<<(byte_size(Response) + 4):32, Request:32>>, Response]),
    answer_all(Pipes, Rest);
answer_all(_, Rest) -> Rest.
