"""The Maven artifact: tab-separated values as resources, a class that reads them, compiled by javac, and a POM."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from corpora.packages.archives import zipped
from corpora.packages.contents import LINE, NAME, SELECTIONS, STEM, VERSION, exported, readme

POM = f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>overlong</groupId>
  <artifactId>{NAME}</artifactId>
  <version>{VERSION}</version>
  <name>{NAME}</name>
  <description>{LINE}</description>
  <licenses>
    <license>
      <name>CC0-1.0</name>
      <url>https://creativecommons.org/publicdomain/zero/1.0/</url>
    </license>
  </licenses>
</project>
"""
MANIFEST = f"""Manifest-Version: 1.0
Automatic-Module-Name: overlong.vectors
Implementation-Title: {NAME}
Implementation-Version: {VERSION}

"""
JAVA = """package overlong.vectors;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An input for a UTF-8 decoder, and what a right decoder answers. Lists cannot be modified. */
public final class TestVector {
    public final String id;
    public final String comment;
    /** The lengths of the chunks it comes in; empty where it comes whole. */
    public final List<Integer> chunks;
    /** The verdict: whether the input is well-formed. */
    public final boolean accept;
    /** Where ill-formed: of the first maximal subpart; else -1. */
    public final int offset;
    /** Where ill-formed: of that subpart, in octets; else -1. */
    public final int length;
    /** Where ill-formed: the input ends inside a possible character. */
    public final boolean incomplete;
    /** So many octets show that it is ill-formed; -1 where none do before the end. */
    public final int detectableAt;
    /** The output of a decoder that puts U+FFFD for each maximal subpart; where well-formed, the text. */
    public final String replacement;
    /** What of it is out after each chunk, or each octet where it comes whole, and at the end. */
    public final List<String> chunked;
    /** Codes of what is wrong. */
    public final List<String> flags;
    /** What it is for. */
    public final List<String> cases;
    private final String hex;

    private TestVector(String row) {
        String[] fields = row.split("\\t", -1);
        id = fields[0];
        hex = fields[1];
        chunks = list(words(fields[2]).map(Integer::valueOf));
        accept = fields[3].equals("accept");
        offset = number(fields[4]);
        length = number(fields[5]);
        incomplete = fields[6].equals("true");
        detectableAt = number(fields[7]);
        replacement = text(fields[9]);
        chunked = list(Stream.of(fields[10].split("\\\\|", -1)).map(TestVector::text));
        flags = list(words(fields[11]));
        cases = list(words(fields[14]));
        comment = fields[15];
    }

    /** The vectors for each known kind of fault. */
    public static List<TestVector> core() {
        return read("core.tsv");
    }

    /** Those that no wrong decoder of up to nine states passes. */
    public static List<TestVector> complete() {
        return read("complete.tsv");
    }

    /** The input: a new array for each call. */
    public byte[] octets() {
        byte[] octets = new byte[hex.length() / 2];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return octets;
    }

    @Override
    public String toString() {
        return id;
    }

    private static List<TestVector> read(String name) {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(TestVector.class.getResourceAsStream(name), StandardCharsets.UTF_8))) {
            return list(lines.lines().skip(1).map(TestVector::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <T> List<T> list(Stream<T> all) {
        return all.collect(Collectors.toUnmodifiableList());
    }

    private static Stream<String> words(String field) {
        return Stream.of(field.split(" ")).filter(word -> !word.isEmpty());
    }

    private static int number(String field) {
        return field.isEmpty() ? -1 : Integer.parseInt(field);
    }

    private static String text(String scalars) {
        return words(scalars).map(word -> Character.toString(Integer.parseInt(word, 16))).collect(Collectors.joining());
    }
}
"""
EXAMPLE = """import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import overlong.vectors.TestVector;

class Example {
    static String strict(byte[] octets) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(octets)).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    public static void main(String[] arguments) {
        List<TestVector> all = new ArrayList<>(TestVector.core());
        all.addAll(TestVector.complete());
        int wrong = 0;
        for (TestVector v : all) {
            if (!Objects.equals(strict(v.octets()), v.accept ? v.replacement : null)) {
                wrong++;
            }
        }
        System.out.println(all.size() + " vectors, " + wrong + " wrong");
    }
}
"""
INSTALL = f"""mvn install:install-file -Dfile={STEM}.jar -DpomFile={STEM}.pom

makes it a dependency, `overlong:{NAME}:{VERSION}`. Without Maven, `java -cp {STEM}.jar Example.java` runs this:"""
FIELDS = """`octets()` is the input. `accept` says whether it is well-formed, `replacement` what a decoder puts out that
replaces a maximal subpart at a time; Java itself replaces a surrogate at once."""
_PACKAGE = "overlong/vectors"


def _compiled() -> dict[str, bytes]:
    """The class, for Java 11 and later; it is the same octets if javac is the same version."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "TestVector.java"
        source.write_text(JAVA, "ascii")
        subprocess.run(["javac", "--release", "11", "-g:none", "-Xlint:all", "-d", scratch, source], check=True)
        return {f"{_PACKAGE}/{each.name}": each.read_bytes() for each in Path(scratch).rglob("*.class")}


def artifact(held: dict[str, bytes]) -> dict[str, bytes]:
    """The jar, its POM and what repositories want beside them: sources and documentation."""
    about = readme(INSTALL, "java", EXAMPLE, FIELDS)
    pom = POM.encode("ascii")
    files = _compiled() | {f"{_PACKAGE}/{name}.tsv": exported("tsv", name) for name in SELECTIONS}
    files |= {"META-INF/LICENSE": held["LICENSE"], "META-INF/README.md": about}
    files[f"META-INF/maven/overlong/{NAME}/pom.xml"] = pom
    return {
        f"{STEM}.jar": zipped({"META-INF/MANIFEST.MF": MANIFEST.encode("ascii")} | dict(sorted(files.items()))),
        f"{STEM}.pom": pom,
        f"{STEM}-sources.jar": zipped({f"{_PACKAGE}/TestVector.java": JAVA.encode("ascii")}),
        f"{STEM}-javadoc.jar": zipped({"README.md": about}),
    }
