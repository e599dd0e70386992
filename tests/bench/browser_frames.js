/*
 * browser_frames.js: put into the page before its own scripts: how long each of its frames takes until its pixels are there,
 * and the same points drawn by the plainest program that does it, in the same browser. For browser.py.
 */
window.bench = { frames: [], points: [] };

{
  const { bench } = window;
  let page = null; /* the context that the page draws points with */
  let bare = null;
  let at = null; /* the bare program's uniforms */
  let isFirst = true; /* draw call of a frame */

  /* Waits for all that was drawn, also into another picture than the canvas. */
  function finish(gl) {
    const into = gl.getParameter(gl.FRAMEBUFFER_BINDING);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    gl.bindFramebuffer(gl.FRAMEBUFFER, into);
  }

  /* What the page draws, and how long that alone takes: all draw calls of a frame. */
  const draw = WebGL2RenderingContext.prototype.drawArrays;
  WebGL2RenderingContext.prototype.drawArrays = function watched(mode, first, count) {
    if (this === bare) return draw.call(this, mode, first, count);
    page = this;
    const program = this.getParameter(this.CURRENT_PROGRAM);
    const uniform = (name) => this.getUniform(program, this.getUniformLocation(program, name));
    if (mode === this.POINTS) Object.assign(bench, { size: uniform("size"), centre: uniform("centre"), scale: uniform("scale"), count });
    finish(this);
    const began = performance.now();
    draw.call(this, mode, first, count);
    finish(this);
    if (isFirst) bench.points.push(0);
    isFirst = false;
    bench.points[bench.points.length - 1] += performance.now() - began;
    return undefined;
  };

  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) =>
    request((now) => {
      const drawings = bench.points.length;
      if (page) finish(page);
      isFirst = true;
      const began = performance.now();
      callback(now);
      if (page) finish(page);
      if (bench.points.length > drawings) bench.frames.push(performance.now() - began);
    });

  const VERTEX = `#version 300 es
layout(location = 0) in float x; layout(location = 1) in float y;
uniform vec2 centre, scale; uniform float size;
void main() { gl_Position = vec4((vec2(x, y) - centre) * scale, 0.0, 1.0); gl_PointSize = size; }`;
  const FRAGMENT = `#version 300 es
precision mediump float; out vec4 pixel;
void main() { pixel = vec4(0.04, 0.08, 0.12, 0.4); }`;

  function link(gl) {
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    return program;
  }

  /* Points at the same places, of the same size, blended as the page's are: one colour, no flags, no palette. */
  bench.prepareBare = async () => {
    const address = performance.getEntriesByType("resource").find(({ name }) => name.includes("api/points")).name;
    const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
    const n = bytes.length / 5;
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: page.canvas.width, height: page.canvas.height });
    const gl = (bare = canvas.getContext("webgl2", { alpha: true, antialias: false, depth: false, premultipliedAlpha: true }));
    const program = link(gl);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    for (const axis of [0, 1]) {
      gl.enableVertexAttribArray(axis);
      gl.vertexAttribPointer(axis, 1, gl.UNSIGNED_SHORT, false, 2, 2 * n * axis);
    }
    gl.viewport(0, 0, canvas.width, canvas.height);
    at = Object.fromEntries(["centre", "scale", "size"].map((name) => [name, gl.getUniformLocation(program, name)]));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    return n;
  };

  /* What the page has drawn last. */
  bench.drawBare = () => {
    finish(bare);
    const began = performance.now();
    bare.uniform2fv(at.centre, bench.centre);
    bare.uniform2fv(at.scale, bench.scale);
    bare.uniform1f(at.size, bench.size);
    bare.clear(bare.COLOR_BUFFER_BIT);
    bare.drawArrays(bare.POINTS, 0, bench.count);
    finish(bare);
    return performance.now() - began;
  };
}
