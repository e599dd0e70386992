"""Pictures and sounds for tests of --media, made byte by byte. Plain functions, no state."""

import io
import struct
import wave
import zlib


def png(colour=(200, 30, 30), side=24):
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    rows = (b"\0" + bytes(colour) * side) * side
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def gif():
    """One pixel."""
    return b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"


def wav(seconds=0.5, rate=8000):
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(rate)
        file.writeframes(bytes(128 + (i // 8 % 2) * 40 for i in range(int(seconds * rate))))
    return made.getvalue()


# What begins as a file of its kind does: the server looks at no more.
BEGINNINGS = {
    "image/png": [png()[:8]], "image/jpeg": [b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01", b"\xff\xd8\xff\xdb\0\x43"], "image/gif": [gif(), b"GIF87a\x01\0\x01\0"],
    "image/webp": [b"RIFF\x24\0\0\0WEBPVP8 "], "audio/wav": [wav()[:44]], "audio/ogg": [b"OggS\0\x02" + bytes(22)],
    "audio/mpeg": [b"ID3\x04\0\0\0\0\0\x0f" + bytes(20), b"ID3\x02\0\0\0\0\x7f\x0f" + bytes(20), b"\xff\xfb\x90\x64" + bytes(100), b"\xff\xf3\x40\xc4" + bytes(100), b"\xff\xe3\x18\xc4" + bytes(100)],
}

# What is neither picture nor sound, or of a kind that is not shown, whatever its file is called.
OTHERS = {
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "svg with a prolog": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
    "html": b"<!DOCTYPE html><script>alert(1)</script>", "html after a mark": b"\xef\xbb\xbf<html>", "html in utf-16": b"\xff\xfe<\0h\0t\0m\0l\0>\0", "empty": b"", "one byte": b"\x89",
    "half a png": b"\x89PNG\r\n", "half a riff": b"RIFF\x24\0\0\0WEB", "avi": b"RIFF\x24\0\0\0AVI LIST", "a list of text": b"ID3 is an algorithm that learns trees", "pdf": b"%PDF-1.7\n<script>",
    "zip": b"PK\x03\x04", "javascript": b"alert(1)", "an aac": b"\xff\xf1\x50\x80\x02\x1f\xfc" + bytes(20), "no frame": b"\xff" * 64, "mp3 without a rate": b"\xff\xfb\xfc\x64" + bytes(100),
    "gif of no version": b"GIF88a" + bytes(20), "bmp": b"BM" + bytes(60), "ico": b"\0\0\1\0" + bytes(60), "mp4": b"\0\0\0\x20ftypisom" + bytes(60), "text": b"a text\n", "zeros": bytes(100),
    "a png later": b" " + png(), "elf": b"\x7fELF" + bytes(60),
}

# A file of its kind that a browser, if it guessed, would take for a page or a script.
POLYGLOTS = {
    "image/gif": [b"GIF89a/*" + bytes(8) + b"*/=1;alert(1)<script>alert(1)</script>", b"GIF89a<html><script>alert(1)</script>"], "image/png": [png() + b"<html><script>alert(1)</script>"],
    "image/jpeg": [b"\xff\xd8\xff\xe0\x2f\x2a" + b"<html><script>alert(1)</script>*/"], "audio/wav": [b"RIFF=/**WAVE*/1;alert(1)<script>"], "audio/mpeg": [b"ID3\x03\0\0\0\0\0\0<html><script>alert(1)</script>"],
}
