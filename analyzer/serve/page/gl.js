/*
 * gl.js: draws points by WebGL2. On the GPU a point has x and y in two bytes each, a colour in one, and one byte that says
 * whether it is drawn, and selected (marks.js).
 *
 * Points that overlap have the mean of their colours, whichever is drawn last: they are added up in a picture of floating-point
 * numbers, which a second step turns into colours. A point of opacity a adds its colour w times, and w itself, where
 * w = −ln(1 − a): so the sum of w is that of an opacity of 1 − Π(1 − a), which is what points over one another have. Where
 * the GPU cannot add up so, each point is drawn over those before it.
 *
 * Without a selection, one draw call draws all points. With one, the points that are not selected come first, in grey.
 */
import { mark } from "./dom.js";

const VERTEX = `#version 300 es
layout(location = 0) in vec2 place;
layout(location = 1) in uint colour;
layout(location = 2) in uint flags;
uniform vec2 centre, scale;
uniform float size, weight;
uniform uint mask, wanted; /* of flags: points whose masked flags equal "wanted" are drawn */
uniform vec4 instead; /* a colour that replaces the point's own, unless its alpha is 0 */
uniform Palette { vec4 palette[256]; };
flat out vec4 shade;
flat out float ring; /* 1: a ring, which stands for no value */
void main() {
  bool drawn = (flags & mask) == wanted;
  gl_Position = drawn ? vec4((place - centre) * scale, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = size;
  vec4 look = palette[colour];
  vec3 rgb = instead.a > 0.0 ? instead.rgb : look.rgb;
  shade = vec4(rgb, 1.0) * weight;
  ring = 1.0 - look.a;
}`;

const SQUARE = `#version 300 es
precision highp float;
flat in vec4 shade;
out vec4 pixel;
void main() { pixel = shade; }`;

const ROUND = `#version 300 es
precision highp float;
flat in vec4 shade;
flat in float ring;
uniform float size, alpha; /* alpha 0: points are drawn over one another, not added up */
out vec4 pixel;
void main() {
  float edge = (0.5 - length(gl_PointCoord - 0.5)) * size;
  float hole = ring * clamp(edge - max(1.0, 0.22 * size), 0.0, 1.0);
  if (edge <= 0.0 || hole >= 1.0) discard;
  float cover = min(edge, 1.0) * (1.0 - hole);
  pixel = shade * (alpha > 0.0 ? log(1.0 - alpha * cover) / log(1.0 - alpha) : cover);
}`;

/* One triangle over everything, and in each pixel the colour that the sums stand for. */
const WHOLE = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

const RESOLVE = `#version 300 es
precision highp float;
uniform highp sampler2D sums;
out vec4 pixel;
void main() {
  vec4 sum = texelFetch(sums, ivec2(gl_FragCoord.xy), 0);
  pixel = sum.a > 0.0 ? vec4(sum.rgb / sum.a, 1.0) * (1.0 - exp(-sum.a)) : vec4(0.0);
}`;

const ROUND_FROM = 3; /* pixels: smaller points are square */
const ALPHA_MOST = 0.99; /* of points that are added up: −ln(1 − 1) has no end */
const UNIFORMS = ["centre", "scale", "size", "weight", "alpha", "mask", "wanted", "instead"];

function compile(gl, kind, text) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  return shader;
}

function link(gl, vertex, fragment) {
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, vertex));
  gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, fragment));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    if (gl.isContextLost()) return null;
    throw new Error(`The points' shader: ${gl.getProgramInfoLog(program)}`);
  }
  const at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)]));
  return { program, at };
}

/* Puts the y of each point beside its x: the source has all x, then all y, and a GPU reads both faster as one attribute. */
function pairs({ bytes, n }) {
  const [planes, places] = [new Uint16Array(bytes, 0, 2 * n), new Uint16Array(2 * n)];
  for (let i = 0; i < n; i++) {
    places[2 * i] = planes[i];
    places[2 * i + 1] = planes[n + i];
  }
  return places;
}

/*
 * The picture in which points are added up, as large as the canvas. Numbers of four bytes can count all points in one pixel; with
 * two bytes, sums of some hundred points would already be wrong, so such a picture is not used.
 */
class Sums {
  #gl;

  constructor(gl) {
    this.#gl = gl;
    this.works = Boolean(gl.getExtension("EXT_color_buffer_float") && gl.getExtension("EXT_float_blend"));
    this.framebuffer = gl.createFramebuffer();
  }

  /* Has drawing go into the empty sums; false: this GPU has no such picture. */
  begin() {
    const gl = this.#gl;
    if (!this.works) return false;
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.framebuffer);
    if (this.width !== width || this.height !== height) this.#resize(width, height);
    if (!this.works) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      return false;
    }
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.blendFunc(gl.ONE, gl.ONE);
    return true;
  }

  #resize(width, height) {
    const gl = this.#gl;
    Object.assign(this, { width, height });
    gl.deleteTexture(this.texture);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, width, height);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    this.works = gl.isContextLost() || gl.checkFramebufferStatus(gl.FRAMEBUFFER) === gl.FRAMEBUFFER_COMPLETE;
  }

  /* Draws what was added up over what the canvas has. */
  resolve({ program }) {
    const gl = this.#gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(program);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

export class PointsRenderer {
  #gl;
  #n = 0;
  #isLost = false;
  #sums;

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

  /* Do points over one another have the mean of their colours? */
  get mixes() {
    return Boolean(this.#sums?.works);
  }

  #prepare() {
    const gl = this.#gl;
    this.square = link(gl, VERTEX, SQUARE);
    this.round = link(gl, VERTEX, ROUND);
    this.resolve = link(gl, WHOLE, RESOLVE);
    this.points = gl.createBuffer();
    this.flags = gl.createBuffer();
    this.palette = gl.createBuffer();
    this.#sums = new Sums(gl);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /* points: {bytes, n}, as the loader has them. */
  setPoints(points) {
    const gl = this.#gl;
    const colours = 4 * points.n; /* where they begin */
    this.#n = points.n;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.points);
    gl.bufferData(gl.ARRAY_BUFFER, 5 * points.n, gl.STATIC_DRAW);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, pairs(points));
    gl.bufferSubData(gl.ARRAY_BUFFER, colours, new Uint8Array(points.bytes, colours, points.n));
    for (const at of [0, 1]) gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(0, 2, gl.UNSIGNED_SHORT, false, 4, 0);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_BYTE, 1, colours);
    mark("points-uploaded");
  }

  setFlags(flags) {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flags);
    gl.bufferData(gl.ARRAY_BUFFER, flags, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(2);
    gl.vertexAttribIPointer(2, 1, gl.UNSIGNED_BYTE, 1, 0);
  }

  /* 256 × 4 bytes: palette.js. */
  setColours(colours) {
    const gl = this.#gl;
    gl.bindBufferBase(gl.UNIFORM_BUFFER, 0, this.palette);
    gl.bufferData(gl.UNIFORM_BUFFER, Float32Array.from(colours, (byte) => byte / 255), gl.STATIC_DRAW);
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
    if (this.#n === 0 || !used || !this.resolve) return;
    gl.useProgram(used.program);
    gl.uniform2f(used.at.centre, (left + right) / 2, (low + high) / 2);
    gl.uniform2f(used.at.scale, 2 / (right - left), 2 / (high - low));
    gl.uniform1f(used.at.size, size);
    if (grey) {
      this.#layer(used, alpha, drawnBit | grey.selectedBit, drawnBit, [...grey.colour, 1]);
      this.#layer(used, Math.min(1, alpha + 0.2), drawnBit | grey.selectedBit, drawnBit | grey.selectedBit, [0, 0, 0, 0]);
    } else {
      this.#layer(used, alpha, drawnBit, drawnBit, [0, 0, 0, 0]);
    }
  }

  #layer({ program, at }, alpha, mask, wanted, instead) {
    const gl = this.#gl;
    const adds = this.#sums.begin();
    const opacity = Math.min(ALPHA_MOST, alpha);
    gl.useProgram(program);
    gl.uniform1f(at.weight, adds ? -Math.log1p(-opacity) : alpha);
    gl.uniform1f(at.alpha, adds ? opacity : 0);
    gl.uniform1ui(at.mask, mask);
    gl.uniform1ui(at.wanted, wanted);
    gl.uniform4f(at.instead, ...instead);
    gl.drawArrays(gl.POINTS, 0, this.#n);
    if (adds) this.#sums.resolve(this.resolve);
  }
}
