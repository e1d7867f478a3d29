// node runner.js FILE [TOLERANCE]: what an accountant answers outside of a vectors file's ends.
// The accountant is `rdp` below, float64: put yours in its place. NaN says that it does not answer.
const fs = require("fs");

// Gaussian noise, on a Poisson sample where the rate is below 1: whole orders from 2 on.
function rdp(sigma, sensitivity, rate, order, count) {
  const s = sensitivity / sigma, logs = [];
  if (rate === 1) return (count * order * s * s) / 2;
  if (order < 2 || !Number.isInteger(order)) return NaN;
  let binomial = 0;
  for (let k = 1; k <= order; k++) {  // log of C(α,k) (1−q)^(α−k) q^k (e^((k²−k)s²/2) − 1)
    const x = ((k * k - k) * s * s) / 2;
    binomial += Math.log((order - k + 1) / k);
    if (k === 1 || x === 0) continue;
    const weight = binomial + k * Math.log(rate) + (order - k) * Math.log1p(-rate);
    logs.push(weight + (x < 1 ? Math.log(Math.expm1(x)) : x + Math.log1p(-Math.exp(-x))));
  }
  if (!logs.length) return 0;
  const top = Math.max(...logs);
  const log = top + Math.log(logs.reduce((sum, x) => sum + Math.exp(x - top), 0));  // of A − 1
  const moment = log < 0 ? Math.log1p(Math.exp(log)) : log + Math.log1p(Math.exp(-log));
  return (count * moment) / (order - 1);
}

// A double's decimal reads back as it; JavaScript reads no base 16.
const number = (forms, absent) => (forms ? Number(forms[0]) : absent);
const [file, tolerance = "1e-9"] = process.argv.slice(2);
let asked = 0, answered = 0, outside = 0;
for (const question of JSON.parse(fs.readFileSync(file, "utf8")).questions) {
  const [part, ...others] = question.parts;
  asked++;
  if (others.length || part.mechanism !== "gaussian" || question.relation === "replace_one") continue;
  const found = rdp(number(part.sigma), number(part.sensitivity, 1), number(part.rate, 1),
    number(question.order), part.count ?? 1);
  if (Number.isNaN(found)) continue;
  answered++;
  if (Math.abs(found - question.lower) <= tolerance * question.upper + 2 ** -1022) continue;
  outside++;
  console.log(`outside: n=${question.n} found ${found}, needed ${question.lower} ${question.tags}`);
}
console.log(`${asked} asked, ${answered} answered, ${outside} outside of 1 ± ${tolerance}`);
if (!answered) console.error("nothing was answered");
process.exit(!answered ? 2 : outside > 0 ? 1 : 0);
