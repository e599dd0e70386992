/* tap.js: prints what node's runner finds, a line for each test, as meson reads it. Why a test fails goes to standard error, which meson shows. */
import process from "node:process";

export default async function* tap(events) {
  let number = 0;
  yield "TAP version 13\n";
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || data.nesting > 0) continue;
    const { error } = data.details;
    if (error) process.stderr.write(`${data.name}: ${error.cause?.stack ?? error.stack ?? error}\n`);
    yield `${type === "test:pass" ? "ok" : "not ok"} ${++number} - ${data.name.replaceAll("#", "")}\n`;
  }
  yield `1..${number}\n`;
}
