"""The functions of ``shared_libraries/right.c``, by their calling conventions."""

RIGHT = {
    "bool(ptr,len)": "is_bool",
    "int(ptr,len)": "is_int",
    "error(ptr,len)": "error",
    "bool(string)": "string_bool",
    "int(string)": "string_int",
    "errpos(ptr,len)": "errpos",
    "errpos-or-minus1(ptr,len)": "minus1",
    "ptr-or-null(ptr,len)": "pointer",
    "result(ptr,len)": "validated",
    "glib(ptr,len,end)": "glib",
    "icu(out,cap,outlen,ptr,len,status)": "icu",
    "iterate(ptr,len,point)": "iterate",
    "stream-bool(state,ptr,len)": "stream_new,stream_judge,stream_judged,stream_free,stream_reset",
    **{
        abi: symbols
        for units in ("utf8", "utf16", "utf32")
        for abi, symbols in {
            f"{units}(ptr,len,out,cap)": units,
            f"{units}(ptr,len,out)": f"{units}_roomy",
            f"{units}-result(ptr,len,out)": f"{units}_result",
            f"stream-{units}(state,ptr,len,out,cap)": (
                f"stream_new,{units}_feed,stream_finish,stream_free,stream_reset"
            ),
        }.items()
    },
}
