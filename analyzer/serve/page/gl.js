/*
 * gl.js: draws points by WebGL2. Their bytes lie on the GPU as they came from the source: x and y in two bytes, a colour
 * in one, and one byte that says whether the point is drawn, and selected (marks.js).
 *
 * Without a selection, one draw call draws all points. With one, the points that are not selected come first, in grey.
 */
import { mark } from "./dom.js";

const VERTEX = `#version 300 es
layout(location = 0) in float x;
layout(location = 1) in float y;
layout(location = 2) in uint colour;
layout(location = 3) in uint flags;
uniform vec2 centre, scale;
uniform mediump float size;
uniform float alpha;
uniform uint mask, wanted; /* of flags: points whose masked flags equal "wanted" are drawn */
uniform vec4 instead; /* a colour that replaces the point's own, unless its alpha is 0 */
uniform sampler2D palette;
flat out vec4 shade;
flat out float ring; /* 1: a ring, which stands for no value */
void main() {
  bool drawn = (flags & mask) == wanted;
  gl_Position = drawn ? vec4((vec2(x, y) - centre) * scale, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = size;
  vec4 look = texelFetch(palette, ivec2(int(colour), 0), 0);
  vec3 rgb = instead.a > 0.0 ? instead.rgb : look.rgb;
  shade = vec4(rgb * alpha, alpha);
  ring = 1.0 - look.a;
}`;

const SQUARE = `#version 300 es
precision mediump float;
flat in vec4 shade;
out vec4 pixel;
void main() { pixel = shade; }`;

const ROUND = `#version 300 es
precision mediump float;
flat in vec4 shade;
flat in float ring;
uniform float size;
out vec4 pixel;
void main() {
  float edge = (0.5 - length(gl_PointCoord - 0.5)) * size;
  float hole = ring * clamp(edge - max(1.0, 0.22 * size), 0.0, 1.0);
  if (edge <= 0.0 || hole >= 1.0) discard;
  pixel = shade * min(edge, 1.0) * (1.0 - hole);
}`;

const ROUND_FROM = 3; /* pixels: smaller points are square */
const UNIFORMS = ["centre", "scale", "size", "alpha", "mask", "wanted", "instead", "palette"];

function compile(gl, kind, text) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  return shader;
}

function link(gl, fragment) {
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, fragment));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    if (gl.isContextLost()) return null;
    throw new Error(`The points' shader: ${gl.getProgramInfoLog(program)}`);
  }
  const at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)]));
  return { program, at };
}

export class PointsRenderer {
  #gl;
  #n = 0;
  #isLost = false;

  /* changed(): the browser has taken the graphics context away, or given it back; all must be set again then. */
  constructor(canvas, changed) {
    this.#gl = canvas.getContext("webgl2", { alpha: true, antialias: false, depth: false, premultipliedAlpha: true });
    if (!this.#gl) return;
    this.#prepare();
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.#isLost = true;
      changed();
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.#isLost = false;
      this.#prepare();
      changed();
    });
  }

  get works() {
    return Boolean(this.#gl) && !this.#isLost;
  }

  /* Why there is nothing to draw with: "none": this browser has no WebGL2, "lost": the context is away; "": there is. */
  get trouble() {
    return this.works ? "" : this.#gl ? "lost" : "none";
  }

  #prepare() {
    const gl = this.#gl;
    this.square = link(gl, SQUARE);
    this.round = link(gl, ROUND);
    this.points = gl.createBuffer();
    this.flags = gl.createBuffer();
    this.palette = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /* points: {bytes, n}, as the loader has them. */
  setPoints(points) {
    const gl = this.#gl;
    this.#n = points.n;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.points);
    gl.bufferData(gl.ARRAY_BUFFER, new Uint8Array(points.bytes), gl.STATIC_DRAW);
    for (const at of [0, 1, 2]) gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(0, 1, gl.UNSIGNED_SHORT, false, 2, 0);
    gl.vertexAttribPointer(1, 1, gl.UNSIGNED_SHORT, false, 2, 2 * points.n);
    gl.vertexAttribIPointer(2, 1, gl.UNSIGNED_BYTE, 1, 4 * points.n);
    mark("points-uploaded");
  }

  setFlags(flags) {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flags);
    gl.bufferData(gl.ARRAY_BUFFER, flags, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(3);
    gl.vertexAttribIPointer(3, 1, gl.UNSIGNED_BYTE, 1, 0);
  }

  /* 256 × 4 bytes: palette.js. */
  setColours(colours) {
    const gl = this.#gl;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
  }

  /*
   * box: [left, right, low, high] of the canvas, in the points' own units, 0 … 65534. size: in pixels of the canvas.
   * grey: {selectedBit, colour: [red, green, blue] of 0 … 1} where there is a selection, else null.
   */
  draw({ box, size, alpha, drawnBit, grey }) {
    const gl = this.#gl;
    const [left, right, low, high] = box;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const used = size >= ROUND_FROM ? this.round : this.square;
    if (this.#n === 0 || !used) return;
    const { program, at } = used;
    gl.useProgram(program);
    gl.uniform2f(at.centre, (left + right) / 2, (low + high) / 2);
    gl.uniform2f(at.scale, 2 / (right - left), 2 / (high - low));
    gl.uniform1f(at.size, size);
    gl.uniform1f(at.alpha, alpha);
    if (grey) {
      this.#pass(at, drawnBit | grey.selectedBit, drawnBit, [...grey.colour, 1]);
      gl.uniform1f(at.alpha, Math.min(1, alpha + 0.2));
      this.#pass(at, drawnBit | grey.selectedBit, drawnBit | grey.selectedBit, [0, 0, 0, 0]);
    } else {
      this.#pass(at, drawnBit, drawnBit, [0, 0, 0, 0]);
    }
  }

  #pass(at, mask, wanted, instead) {
    const gl = this.#gl;
    gl.uniform1ui(at.mask, mask);
    gl.uniform1ui(at.wanted, wanted);
    gl.uniform4f(at.instead, ...instead);
    gl.drawArrays(gl.POINTS, 0, this.#n);
  }
}
