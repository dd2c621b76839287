"""The Maven artifact: tab-separated values as resources, a class that reads them, compiled by javac, and a POM."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from corpora.packages.contents import LINE, NAME, SELECTIONS, STEM, VERSION, exported, readme, source, zipped

MANIFEST = f"""Manifest-Version: 1.0
Automatic-Module-Name: overlong.vectors
Implementation-Title: {NAME}
Implementation-Version: {VERSION}

"""
EXAMPLE = """import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import overlong.vectors.TestVector;

class Example {
    public static void main(String[] arguments) {
        var wrong = TestVector.failing(
                octets -> StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(octets)).toString());
        System.out.println(wrong.size() + " wrong " + wrong);
    }
}
"""
INSTALL = f"""mvn install:install-file -Dfile={STEM}.jar -DpomFile={STEM}.pom

makes it a dependency, `overlong:{NAME}:{VERSION}`. Without Maven, `java -cp {STEM}.jar Example.java` runs this:"""
FIELDS = """`octets()` is the input. `accept` says whether it is well-formed, `replacement` the output of a decoder
that replaces a maximal subpart at a time; Java itself replaces a surrogate at once."""
_PACKAGE = "overlong/vectors"


LINT = ("-g:none", "-Xlint:all", "-Xdoclint:all/public", "-Werror")
QUIET = ("-quiet", "-notimestamp", "-noindex", "-notree", "-nohelp")


def _made(tool: str, options: tuple[str, ...]) -> dict[str, bytes]:
    """What a tool makes of the class, for Java 11 and later; the same octets if it is of the same version."""
    with tempfile.TemporaryDirectory() as scratch:
        java, output = Path(scratch) / "TestVector.java", Path(scratch) / "output"
        java.write_text(source("TestVector.java"), "ascii")
        subprocess.run([tool, *options, "--release", "11", "-encoding", "ascii", "-d", output, java], check=True)
        files = (each for each in sorted(output.rglob("*")) if each.is_file())
        return {each.relative_to(output).as_posix(): each.read_bytes() for each in files}


def artifact(held: dict[str, bytes], homepage: str | None) -> dict[str, bytes]:
    """The jar, its POM and what repositories want beside them: sources and documentation."""
    about = readme(homepage, INSTALL, "java", EXAMPLE, FIELDS)
    page = f"  <url>{homepage}</url>\n" if homepage else ""
    pom = source("pom.xml").format(name=NAME, version=VERSION, line=LINE, homepage=page).encode("ascii")
    files = _made("javac", LINT) | {f"{_PACKAGE}/{name}.tsv": exported("tsv", name) for name in SELECTIONS}
    files |= {"META-INF/LICENSE": held["LICENSE"], "META-INF/README.md": about}
    files[f"META-INF/maven/overlong/{NAME}/pom.xml"] = pom
    return {
        f"{STEM}.jar": zipped({"META-INF/MANIFEST.MF": MANIFEST.encode("ascii")} | dict(sorted(files.items()))),
        f"{STEM}.pom": pom,
        f"{STEM}-sources.jar": zipped({f"{_PACKAGE}/TestVector.java": source("TestVector.java").encode("ascii")}),
        f"{STEM}-javadoc.jar": zipped(_made("javadoc", QUIET) | {"README.md": about}),
    }
