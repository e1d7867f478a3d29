// A peer of symacct verify in JavaScript: node peer.js; put your accountant in place of rdp().
const readline = require("node:readline");

const SUPPORTS = [{ mechanism: "Gaussian" }];
const HELLO = { peer: "mine", version: "1", supports: SUPPORTS, compose: true };

function rdp(parts, alpha) {
  return parts.reduce((sum, p) => sum + (p.count * alpha) / (2 * p.sigma_float ** 2), 0);
}

function answer(ask) {
  if (ask.ask === "hello") return HELLO;
  if (ask.ask !== "rdp") return { unsupported: "only rdp" };
  try {
    // As text: JSON has no Infinity and no NaN.
    return { value: String(rdp(ask.parts, ask.alpha_float)) };
  } catch (error) {
    return { error: String(error) };
  }
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const ask = JSON.parse(line);
  console.log(JSON.stringify({ id: ask.id, ...answer(ask) }));
});
