// @ts-check
"use strict";
// Moves the operating point. Counts are exact; costs are compared as fractions of whole numbers, so
// that a tie is a tie; numbers are written as Python writes them.
(() => {
  /** @typedef {{tp: number, fp: number, fn: number, tn: number, rp: number, rn: number}} Confusion with the reviewed of either class: none of one threshold */
  /** @typedef {{num: bigint, den: bigint, value: number, text: string}} Ratio */
  /**
   * @typedef {object} Score
   * @property {string} name
   * @property {number[]} t thresholds, from the highest down
   * @property {number[]} tp
   * @property {number[]} fp
   * @property {number[]} hull the cuts that are best for some costs
   * @property {[string, number, number]} axis
   * @property {boolean} reverse whether low scores mean positive; then all of these are of -score
   * @property {number} asked the cut that was asked for
   * @property {number | null} askedT and its threshold
   * @property {number} askedReview the cut for reviewing that was asked for; the same if there is one
   * @property {number | null} askedReviewT and its threshold
   * @property {boolean} chance whether the scores are probabilities
   * @property {number[] | null} llr calibrated log-likelihood ratios at the cuts
   * @property {number | null} askedP the calibrated probability at the cut that was asked for
   * @property {string} verdict why no threshold should be used, if so
   * @property {number[]} edges of the bins of the histogram
   * @property {number[][]} bins the mass of the positives and of the negatives in them
   * @property {number[][]} shares blocks of scores: highest, lowest, observed event rate
   * @property {Record<string, string>} expected what to expect of that cut on new rows
   */

  const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
  const all = (/** @type {string} */ query) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(query)]);
  const data = JSON.parse($("data").textContent);
  const { P, N, weighted, threeWay } = data;

  // ---------------------------------------------------------------- reading the data

  const running = (/** @type {number[]} */ steps) => {
    let sum = 0;
    return steps.map((step) => (sum += step));
  };
  const finite = (/** @type {any} */ x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x);
  /** @type {Score[]} */
  const scores = data.scores.map((/** @type {any} */ s) => ({
    ...s,
    t: s.t.map(finite),
    llr: s.llr && s.llr.map(finite),
    tp: weighted ? s.tp : running(s.tp),
    fp: weighted ? s.fp : running(s.fp),
    hull: running(s.hull),
  }));

  /** A decimal as a fraction: "0.05" is 5/100. @returns {Ratio | null} */
  const ratioOf = (/** @type {string} */ text) => {
    const parts = /^\s*(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\s*$/.exec(text);
    const value = Number(text);
    if (!parts || !(value > 0 && value < 1e100)) return null;
    const shift = Number(parts[3] || 0) - parts[2].length;
    const digits = BigInt((parts[1] || "0") + parts[2]);
    const scale = 10n ** BigInt(Math.abs(shift));
    return shift < 0 ? { num: digits, den: scale, value, text } : { num: digits * scale, den: 1n, value, text };
  };

  // ---------------------------------------------------------------- numbers as Python writes them

  /** Rounds a string of digits to n of them, half to even. @returns {[string, boolean]} and whether it got longer */
  const roundDigits = (/** @type {string} */ digits, /** @type {number} */ n) => {
    const kept = digits.slice(0, n), rest = digits.slice(n);
    const half = "5" + "0".repeat(Math.max(rest.length - 1, 0));
    const up = rest > half || (rest === half && Number(kept.at(-1) || 0) % 2 === 1);
    const out = (BigInt(kept || "0") + (up ? 1n : 0n)).toString().padStart(kept.length, "0");
    return [out, out.length > kept.length];
  };

  const grouped = (/** @type {string} */ text) => text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

  /** Python's format(x, f".{n}f"). */
  const fixed = (/** @type {number} */ x, /** @type {number} */ n) => {
    const [whole, part] = Math.abs(x).toFixed(100).split(".");
    const [digits] = roundDigits(whole + part, whole.length + n);
    const cut = digits.length - n;
    const sign = x < 0 && /[1-9]/.test(digits) ? "-" : "";
    return sign + digits.slice(0, cut) + (n ? "." + digits.slice(cut) : "");
  };

  /** Python's format(x, f".{n}g"). */
  const general = (/** @type {number} */ x, /** @type {number} */ n) => {
    if (Number.isNaN(x)) return "nan";
    if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
    if (x === 0) return "0";
    const [mantissa, exponent] = Math.abs(x).toExponential(100).split("e");
    let [digits, longer] = roundDigits(mantissa.replace(".", ""), n);
    const e = Number(exponent) + (longer ? 1 : 0);
    digits = digits.slice(0, n);
    return (x < 0 ? "-" : "") + written(digits.replace(/0+$/, "") || "0", e, -4, n);
  };

  /** Digits with a point after the first, times 10^e: plain from 10^low up to 10^high. */
  const written = (/** @type {string} */ digits, /** @type {number} */ e, /** @type {number} */ low, /** @type {number} */ high) => {
    if (e < low || e >= high) {
      const size = Math.abs(e).toString().padStart(2, "0");
      return digits[0] + (digits.length > 1 ? "." + digits.slice(1) : "") + (e < 0 ? "e-" : "e+") + size;
    }
    if (e < 0) return "0." + "0".repeat(-e - 1) + digits;
    if (digits.length <= e + 1) return digits.padEnd(e + 1, "0");
    return digits.slice(0, e + 1) + "." + digits.slice(e + 1);
  };

  /** Python's repr of a float. */
  const repr = (/** @type {number} */ x) => {
    if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
    if (x === 0) return "0.0";
    const [mantissa, exponent] = Math.abs(x).toExponential().split("e");
    const text = written(mantissa.replace(".", ""), Number(exponent), -4, 16);
    return (x < 0 ? "-" : "") + text + (/[.e]/.test(text) ? "" : ".0");
  };

  const counted = (/** @type {number} */ mass) => grouped(weighted ? general(mass, data.digits) : String(mass));
  /** Three significant digits, no exponent. */
  const number = (/** @type {number} */ x) => {
    if (Number.isNaN(x)) return "–";
    if (x === 0) return "0";
    const places = clip(2 - Math.floor(Math.log10(Math.abs(x))), 0, 12);
    return grouped(fixed(x, places)).replace("-", "−");
  };
  const perCent = (/** @type {number} */ x) => (Number.isNaN(x) ? "–" : number(100 * x) + " %");
  const measureText = (/** @type {string} */ name, /** @type {number} */ x) => (data.rates.includes(name) ? perCent(x) : number(x));
  /** Per cent, for a box with room for few digits; never 100 where some are negative. */
  const share = (/** @type {number} */ x) => {
    const text = general(100 * x, 4);
    return text === "100" ? general(100 * x, 6) : text;
  };
  const threshold = (/** @type {Score} */ s, /** @type {number} */ t) => repr(s.reverse ? 0 - t : t).replace("inf", "∞");

  // ---------------------------------------------------------------- what a cut does

  const over = (/** @type {number} */ part, /** @type {number} */ whole) => (whole ? part / whole : NaN);

  /** @returns {Confusion} of the rows */
  const confusionAt = (/** @type {Score} */ s, /** @type {number} */ k, /** @type {number} */ r = k) => ({
    tp: s.tp[k],
    fp: s.fp[k],
    fn: P - s.tp[r],
    tn: N - s.fp[r],
    rp: s.tp[r] - s.tp[k],
    rn: s.fp[r] - s.fp[k],
  });
  const positives = (/** @type {Confusion} */ c) => c.tp + c.fn + c.rp;
  const negatives = (/** @type {Confusion} */ c) => c.fp + c.tn + c.rn;

  /** The same rates among as many cases with another share of positives. @returns {Confusion} */
  const deployed = (/** @type {Confusion} */ c, /** @type {number | null} */ prior) => {
    if (prior === null) return c;
    const pos = positives(c), neg = negatives(c), total = pos + neg;
    const p = prior * total, n = (1 - prior) * total;
    return {
      tp: p * over(c.tp, pos),
      fp: n * over(c.fp, neg),
      fn: p * over(c.fn, pos),
      tn: n * over(c.tn, neg),
      rp: p * over(c.rp, pos),
      rn: n * over(c.rn, neg),
    };
  };

  /** @returns {Record<string, number>} */
  const measures = (/** @type {Confusion} */ { tp, fp, fn, tn, rp, rn }) => {
    const p = tp + fn + rp, n = fp + tn + rn, total = p + n, flagged = tp + fp;
    // One quotient of products is rounded once, where products are safe.
    const safe = total > 1e-140 && total < 2 ** 26;
    const recall = over(tp, p), specificity = over(tn, n), precision = over(tp, flagged);
    const mcc = over(tp * tn - fp * fn, Math.sqrt((tp + fp) * (tp + fn)) * Math.sqrt((tn + fp) * (tn + fn)));
    return {
      recall,
      fnr: over(fn, p),
      review_rate: over(rp + rn, total),
      error_rate: over(fp + fn, total),
      fpr: over(fp, n),
      precision,
      flagged_rate: over(flagged, total),
      specificity,
      npv: over(tn, tn + fn),
      accuracy: over(tp + tn, total),
      balanced_rate: safe ? over(tp * n + tn * p, 2 * p * n) : 0.5 * (recall + specificity),
      f1: over(2 * tp, 2 * tp + fp + fn),
      mcc: Math.min(1, Math.max(-1, mcc)),
      lift: safe ? over(tp * total, flagged * p) : over(precision, over(p, total)),
    };
  };

  const cost = (/** @type {Confusion} */ c) => {
    const { fp, fn, tp, tn, review, review_miss } = costsNow();
    const reviews = (review || 0) * (c.rp + c.rn) + review_miss * c.rp;
    return (fp * c.fp + fn * c.fn - tp * c.tp - tn * c.tn + reviews) / (positives(c) + negatives(c));
  };

  const costsNow = () => {
    const { fp, tp, tn } = data.costs;
    return state.ratio === start ? data.costs : { ...data.costs, fn: state.ratio.value * (fp + tn) - tp };
  };

  /** The cuts that are best for costs, those for blocking and for reviewing. @returns {[number, number]} */
  const bestCuts = (/** @type {Score} */ s, /** @type {Ratio} */ ratio, /** @type {number | null} */ prior) => {
    const [block, review] = gainsOf(ratio).map((gains) => best(s, gains, prior));
    return [block, Math.max(block, review)];
  };

  /** What a positive above each cut gains, in what a negative loses: by not being reviewed, and by not being passed. */
  const gainsOf = (/** @type {Ratio} */ ratio) => {
    if (!threeWay || data.costs.review === null) return [ratio, ratio];
    // All as whole numbers of one small unit.
    const parts = ["fp", "tp", "tn", "review", "review_miss"].map((name) => decimal(data.costs[name]));
    const unit = parts.reduce((most, part) => (part.den > most ? part.den : most), 1n) * ratio.den;
    const [fp, tp, tn, review, miss] = parts.map((part) => (part.num * unit) / part.den);
    const fn = (ratio.num * (fp + tn)) / ratio.den - tp;
    const [a, b, c, d] = [review + miss + tp, fp - review, fn - review - miss, review + tn];
    const gains = (/** @type {bigint} */ num, /** @type {bigint} */ den) => ({ num, den, value: Number(num) / Number(den), text: "" });
    const both = a >= 0n && b >= 0n && c >= 0n && d >= 0n && b * c >= d * a && (a || b) && (c || d);
    // Where no case is worth a review there is one cut.
    return both ? [gains(a, b), gains(c, d)] : [gains(a + c, b + d), gains(a + c, b + d)];
  };
  const decimal = (/** @type {number} */ x) => {
    const size = ratioOf(String(Math.abs(x))) || { num: 0n, den: 1n };
    return x < 0 ? { ...size, num: -size.num } : size;
  };

  /** The best cut for costs: past all segments of the hull that gain. Ties go to fewer false alarms. */
  const best = (/** @type {Score} */ s, /** @type {Ratio} */ ratio, /** @type {number | null} */ prior) => {
    const gains = gainer(s, ratio, prior);
    let low = 0, high = s.hull.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (gains(s.hull[middle], s.hull[middle + 1])) low = middle + 1;
      else high = middle;
    }
    return s.hull[low];
  };

  /** Whether going from one cut to a lower one is worth it. @returns {(from: number, to: number) => boolean} */
  const gainer = (/** @type {Score} */ s, /** @type {Ratio} */ ratio, /** @type {number | null} */ prior) => {
    if (weighted) {
      const clr = prior === null ? 1 : (prior / (1 - prior)) * (N / P);
      return (from, to) => ratio.value * clr * (s.tp[to] - s.tp[from]) > s.fp[to] - s.fp[from];
    }
    let up = ratio.num, down = ratio.den;
    if (prior !== null) {
      const p = /** @type {Ratio} */ (ratioOf(String(prior)));
      up *= p.num * BigInt(N);
      down *= (p.den - p.num) * BigInt(P);
    }
    return (from, to) => up * BigInt(s.tp[to] - s.tp[from]) > down * BigInt(s.fp[to] - s.fp[from]);
  };

  // ---------------------------------------------------------------- words

  /** In natural frequencies: per 10,000 cases, or so many more that ten are positive. */
  const natural = (/** @type {Confusion} */ c, /** @type {number | null} */ prior) => {
    const total = P + N;
    const six = (/** @type {string[]} */ [tp, rp, fn, fp, rn, tn]) =>
      `${tp} blocked, ${rp} reviewed, ${fn} passed; negatives: ${fp} blocked, ${rn} reviewed, ${tn} passed`;
    const cells = (/** @type {Confusion} */ { tp, rp, fn, fp, rn, tn }) => [tp, rp, fn, fp, rn, tn];
    if (prior === null && total <= 10000) {
      const [n, p, tp, fn, fp] = [total, P, c.tp, c.fn, c.fp].map(counted);
      if (threeWay) return `On these rows: ${n} ${n === "1" ? "case" : "cases"}, ${p} positive: ${six(cells(c).map(counted))}`;
      return `On these rows: ${n} ${n === "1" ? "case" : "cases"}, ${p} positive; ${tp} caught, ${fn} missed, ${fp} false ${fp === "1" ? "alarm" : "alarms"}`;
    }
    const d = deployed(c, prior);
    const all = positives(d) + negatives(d), share = positives(d) / all;
    const base = share > 0 && share < 0.001 ? 10 ** Math.min(Math.ceil(1 - Math.log10(share)), 12) : 10000;
    const rounded = (/** @type {number} */ x) => (x >= 10 ? Number(fixed(x, 0)) : x >= 0.1 ? Number(fixed(x, 1)) : x);
    const told = (/** @type {number} */ x) =>
      Number.isInteger(x) ? grouped(fixed(x, 0)) : x >= 0.1 ? grouped(fixed(x, 1)) : general(x, 2);
    const [p, tp, fp] = [positives(d), d.tp, d.fp].map((m) => rounded((base * m) / all));
    const every = `On these rows, per ${grouped(String(base))} cases: ${told(p)} positive`;
    if (threeWay) return `${every}: ${six(cells(d).map((m) => told(rounded((base * m) / all))))}`;
    return `${every}; ${told(tp)} caught, ${told(p - tp)} missed, ${told(fp)} false ${fp === 1 ? "alarm" : "alarms"}`;
  };

  /** What is flagged, with the calibrated probability at the threshold if it is known. */
  const ruleOf = (/** @type {Score} */ s, /** @type {number} */ t, /** @type {Confusion} */ c, /** @type {number | null} */ p = null) => {
    if (t === Infinity && c.tp + c.fp === 0) return "nothing";
    if (t === -Infinity) return "everything";
    const chance = p === null ? "" : ` (probability ≥ ${general(100 * p, 3)} %)`;
    return `scores ${s.reverse ? "≤" : "≥"} ${repr(s.reverse ? 0 - t : t)}${chance}`;
  };

  /** What to do with two thresholds. */
  const threeWayText = (/** @type {Score} */ s, /** @type {number} */ review, /** @type {number} */ block) => {
    const sign = s.reverse ? "≤" : "≥", own = (/** @type {number} */ t) => repr(s.reverse ? 0 - t : t);
    const parts = [];
    if (block < Infinity) parts.push(block === -Infinity ? "block everything" : `block scores ${sign} ${own(block)}`);
    if (review < block) {
      const at = `scores ${sign} ${own(review)}`;
      parts.push(`review ${review === -Infinity ? (parts.length ? "the rest" : "everything") : at}`);
    }
    if (review > -Infinity) parts.push(parts.length ? "pass the rest" : "pass everything");
    return parts.join(", ");
  };

  // ---------------------------------------------------------------- the state

  /** @type {Ratio} */
  const start = { num: BigInt(data.ratio[0]), den: BigInt(data.ratio[1]), value: Number(data.ratio[0]) / Number(data.ratio[1]), text: data.ratios[data.ratioAt] };
  const state = { d: 0, ratio: start, prior: /** @type {number | null} */ (data.prior), mode: "asked", cut: scores[0].asked, review: scores[0].askedReview };
  const prior = () => (state.prior === null ? P / (P + N) : state.prior);
  const score = () => scores[state.d];
  const thresholdNow = () => {
    const s = score();
    return state.mode === "asked" && s.askedT !== null ? s.askedT : s.t[state.cut];
  };
  const reviewNow = () => {
    const s = score();
    return state.mode === "asked" && s.askedReviewT !== null ? s.askedReviewT : s.t[state.review];
  };
  const confusionNow = () => confusionAt(score(), state.cut, state.review);

  /** What people move: a threshold, or two. @type {{slider: any, handle: any, at: "cut" | "review", area: string, threshold: () => number}[]} */
  const ends = [{ slider: $("cut"), handle: $("handle"), at: "cut", area: "flagged", threshold: thresholdNow }];
  if (threeWay) ends.push({ slider: $("review"), handle: $("handle-review"), at: "review", area: "reviewed", threshold: reviewNow });

  /** The calibrated probability at a cut, for the prevalence that is set. */
  const probabilityAt = (/** @type {number} */ k) => {
    const s = score();
    if (!s.llr) return null;
    if (state.mode === "asked" && state.prior === data.prior) return s.askedP;
    return 1 / (1 + Math.exp(-(s.llr[k] + logit(prior()))));
  };

  /** Chooses the cut anew, if it follows the costs, and shows everything. */
  const update = () => {
    if (state.mode === "costs") [state.cut, state.review] = bestCuts(score(), state.ratio, state.prior);
    if (state.mode === "asked") [state.cut, state.review] = [score().asked, score().askedReview];
    write();
    draw();
  };

  const why = (/** @type {Confusion} */ d) => {
    if (state.mode === "asked") return state.prior === data.prior ? data.why : `${data.why} The threshold stays fixed when you change the prevalence.`;
    const what = `threshold${threeWay ? "s" : ""} for these costs`;
    if (state.mode === "costs") return data.limited ? `The best ${what}, ignoring limits.` : `The best ${what}.`;
    if (threeWay && !data.given) return "Set by hand.";
    const found = confusionAt(score(), ...bestCuts(score(), state.ratio, state.prior));
    const regret = 1000 * (cost(d) - cost(deployed(found, state.prior)));
    if (!(regret > 1e-9)) return `Set by hand: as good as the best ${what}.`;
    return `Set by hand: the best threshold${threeWay ? "s" : ""} would cost ${number(regret)} less per 1,000 cases.`;
  };

  /** The cost beside those of flagging nothing and everything. */
  const costText = (/** @type {Confusion} */ d) => {
    const p = positives(d), n = negatives(d), zero = { tp: 0, fp: 0, fn: 0, tn: 0, rp: 0, rn: 0 };
    /** @type {[string, Confusion][]} */
    const alike = [[threeWay ? "passing all" : "flagging none", { ...zero, fn: p, tn: n }], [threeWay ? "blocking all" : "flagging all", { ...zero, tp: p, fp: n }]];
    if (threeWay) alike.push(["reviewing all", { ...zero, rp: p, rn: n }]);
    const own = 1000 * cost(d), others = alike.map(([, c]) => 1000 * cost(c));
    const least = Math.min(...others), at = others.indexOf(least);
    const each = alike.map(([name], k) => `${name}: ${number(others[k])}`);
    const beside = `${alike[at][0]} (${number(least)}); ${each.filter((_, k) => k !== at).join(", ")}`;
    const saves = own >= 0 && own < least ? `${perCent((least - own) / least)} below ${beside}`
      : own >= least && least > 0 ? `no saving over ${beside}`
      : each.join(", ");
    return `Cost per 1,000 cases: ${number(own)} on these rows${data.given ? "" : " (in units of one false alarm)"}; ${saves}`;
  };

  /** @type {Map<string, HTMLElement[]>} */
  const places = new Map();
  for (const element of all("[data-live]")) {
    const key = /** @type {string} */ (element.dataset.live);
    places.set(key, [...(places.get(key) || []), element]);
  }
  const put = (/** @type {string} */ key, /** @type {string} */ text) => {
    for (const element of places.get(key) || []) if (element.textContent !== text) element.textContent = text;
  };

  let announced = 0;
  const write = () => {
    const s = score(), c = confusionNow(), d = deployed(c, state.prior), t = thresholdNow();
    const rule = threeWay ? threeWayText(s, reviewNow(), t) : `flag ${ruleOf(s, t, c, probabilityAt(state.cut))}`;
    const headline = s.verdict || rule[0].toUpperCase() + rule.slice(1);
    put("headline", headline);
    put("rule", rule);
    all(".answer").forEach((e) => e.classList.toggle("unusable", s.verdict !== ""));
    put("natural", natural(c, state.prior));
    put("why", why(d));
    put("threshold", threshold(s, t));
    put("review-threshold", threshold(s, reviewNow()));
    const side = s.reverse ? "≤" : "≥";
    put("sense", `${threeWay ? "Block" : "Flag"} scores ${side}`);
    put("review-sense", `Review scores ${side}`);
    for (const cell of /** @type {const} */ (["tp", "fp", "fn", "tn", "rp", "rn"])) {
      put(cell, counted(c[cell]));
      put(`${cell}-share`, perCent(over(c[cell], ["tp", "fn", "rp"].includes(cell) ? positives(c) : negatives(c))));
    }
    const there = measures(d);
    for (const name in there) put(name, measureText(name, there[name]));
    for (const name in s.expected) put(name, s.expected[name]);
    // Of no other cut is it known what to expect of new rows.
    const asked = state.mode === "asked" && state.ratio === start && state.prior === data.prior;
    const costed = data.given || state.ratio !== start || state.mode === "costs";
    if (!asked) put("expected", costed ? costText(d) : "");
    $("main").classList.toggle("moved", !asked);
    put("cost", number(1000 * cost(d)));
    $("main").classList.toggle("uncosted", !costed);
    const costs = costed ? `A missed positive costs as much as ${state.ratio.text} false alarms. ` : "";
    put("settings", `${costs}Prevalence ${share(prior())} %, threshold ${threshold(s, t)}.`);
    remember(asked);
    scores.forEach((one, k) => {
      if (scores.length < 2) return;
      const [cut, review] = bestCuts(one, state.ratio, state.prior);
      const own = threshold(one, one.t[cut]);
      put(`best-${k}`, threeWay ? `review ${threshold(one, one.t[review])}, block ${own}` : own);
      put(`best-cost-${k}`, number(1000 * cost(deployed(confusionAt(one, cut, review), state.prior))));
    });
    for (const { slider, handle, at } of ends) {
      const last = s.t.length - 1, now = String(last - state[at]);
      slider.max = String(last);
      slider.value = now;
      handle.setAttribute("aria-valuemax", String(last));
      handle.setAttribute("aria-valuenow", now);
      for (const element of [slider, handle]) element.setAttribute("aria-valuetext", rule);
    }
    $("ratio").setAttribute("aria-valuetext", `a missed positive costs as much as ${state.ratio.text} false alarms`);
    $("prior").setAttribute("aria-valuetext", `${general(100 * prior(), 6)} % are positive`);
    $("best").disabled = state.mode === "costs";
    $("reset").disabled = asked;
    // Said once the sliders rest, not at every step.
    clearTimeout(announced);
    announced = setTimeout(() => ($("status").textContent = `${headline}. ${natural(c, state.prior)}`), 600);
  };

  // ---------------------------------------------------------------- pictures

  const logit = (/** @type {number} */ p) => Math.log(p) - Math.log1p(-p);
  const clip = (/** @type {number} */ x, /** @type {number} */ low, /** @type {number} */ high) => Math.min(Math.max(x, low), high);
  /** Where a score is along its axis, from 0 to 1. */
  const place = (/** @type {Score} */ s, /** @type {number} */ t) => {
    const [kind, low, high] = s.axis;
    const scaled = kind === "logit" ? logit : (/** @type {number} */ x) => x;
    return clip((scaled(clip(t, low, high)) - scaled(low)) / (scaled(high) - scaled(low)), 0, 1);
  };
  const round = (/** @type {number} */ x) => Math.round(1000 * x);
  const path = (/** @type {[number, number][]} */ points) => {
    let out = "", last = "";
    for (const [x, y] of points) {
      const step = `${round(clip(x, -0.5, 1.5))},${round(1 - clip(y, -0.5, 1.5))}`;
      if (step !== last) out += (out ? " " : "M") + step;
      last = step;
    }
    return out;
  };
  const steps = Array.from({ length: 201 }, (_, k) => k / 200);
  /** Net benefit of a cut, and of the best one, at a threshold probability. */
  const benefit = (/** @type {Score} */ s, /** @type {number} */ k, /** @type {number} */ t, /** @type {number} */ pi) =>
    (pi * s.tp[k]) / P - ((1 - pi) * s.fp[k] * t) / (1 - t) / N;
  const bestBenefit = (/** @type {Score} */ s, /** @type {number} */ t, /** @type {number} */ pi) =>
    s.hull.reduce((most, k) => Math.max(most, benefit(s, k, t, pi)), -Infinity);
  /** Up to which threshold probability the decision curve is drawn: as in Python. */
  const benefitEnd = (/** @type {number} */ pi) => data.ends.find((/** @type {number} */ end) => end === 1 || end >= Math.max(3 * pi, 2 / (1 + start.value)));
  const axis = { end: 1, low: 0, high: 1 };
  const height = (/** @type {number} */ x) => (x - axis.low) / (axis.high - axis.low);
  const setAxis = (/** @type {number} */ pi) => Object.assign(axis, { end: benefitEnd(pi), low: -0.2 * pi, high: 1.05 * pi });

  const dot = (/** @type {string} */ key, /** @type {number} */ x, /** @type {number} */ y) => {
    for (const element of all(`[data-dot="${key}"]`)) {
      element.hidden = Number.isNaN(x + y);
      element.style.left = `${100 * clip(x, 0, 1)}%`;
      element.style.bottom = `${100 * clip(y, 0, 1)}%`;
    }
  };
  const set = (/** @type {string} */ key, /** @type {string} */ d) => {
    for (const element of all(`[data-draw="${key}"]`)) element.setAttribute("d", d);
  };

  /** What Python drew, for the prevalence at the start. */
  const startPrior = data.prior === null ? P / (P + N) : data.prior;
  const drawn = new Map(all("[data-draw]").map((element) => [element, element.getAttribute("d") || ""]));
  const ticks = all("[data-plot=nb]").map((area) => [...area.querySelectorAll(".tx, .ty")]);
  let drawnPrior = startPrior;
  setAxis(startPrior);
  const draw = () => {
    const s = score(), c = confusionNow(), d = deployed(c, state.prior);
    const m = measures(d), pi = prior(), r = state.ratio.value;
    const odds = (1 - pi) / pi / r;
    if (pi !== drawnPrior) curvesOfPrior(pi);
    drawnPrior = pi;
    dot("roc", m.fpr, m.recall);
    dot("roc-review", 1 - m.specificity, 1 - m.fnr);
    dot("pr", m.recall, m.precision);
    // Cuts of equal cost are on a line of this slope.
    const run = 2 / Math.hypot(1, odds); // far enough to leave the picture at both ends
    const end = (/** @type {number} */ sign) => `${round(m.fpr + sign * run)},${round(1 - m.recall - sign * run * odds)}`;
    set("iso", `M${end(-1)} ${end(1)}`);
    const x = 1 / (1 + odds);
    dot("cost", x, 2 * ((1 - m.recall) * x + m.fpr * (1 - x)));
    set("line", path([[0, 2 * m.fpr], [1, 2 * (1 - m.recall)]]));
    const t = 1 / (1 + r);
    // Off the axis there is no curve for the point to be on.
    dot("nb", t <= axis.end ? t / axis.end : NaN, height(benefit(s, state.cut, t, pi)));
    const at = place(s, thresholdNow());
    for (const { area, handle, threshold } of ends) {
      const x = place(s, threshold());
      set(area, `M${round(x)},0H1000V1000H${round(x)}Z`);
      handle.style.left = `${100 * x}%`;
    }
    for (const element of all("[data-rule]")) element.style.left = `${100 * at}%`;
    bar("caught", m.recall);
    bar("reviewed", over(d.rp, positives(d)));
    bar("missed", m.fnr);
    bar("right", m.precision);
    bar("wrong", 1 - m.precision);
  };

  const bar = (/** @type {string} */ key, /** @type {number} */ share) => {
    for (const element of all(`[data-bar="${key}"]`)) element.style.width = `${100 * (share || 0)}%`;
  };

  /** Round numbers along an axis, as in Python. */
  const roundTicks = (/** @type {number} */ from, /** @type {number} */ to) => {
    const raw = (to - from) / 6, size = 10 ** Math.floor(Math.log10(raw));
    const step = size * (/** @type {number} */ ([1, 2, 5, 10].find((k) => size * k >= raw)));
    const first = Math.ceil(from / step - 1e-9), last = Math.floor(to / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
  };
  const tick = (/** @type {string} */ kind, /** @type {string} */ side, /** @type {number} */ at, /** @type {number} */ value) => {
    const span = Object.assign(document.createElement("span"), { className: kind, textContent: general(value, 6) });
    span.style.setProperty(side, `${100 * at}%`);
    return span;
  };

  /** Curves that change with the prevalence. */
  const curvesOfPrior = (/** @type {number} */ pi) => {
    setAxis(pi);
    const areas = all("[data-plot=nb]");
    areas.forEach((area, i) => {
      area.querySelectorAll(".tx, .ty").forEach((old) => old.remove());
      const own = pi === startPrior ? ticks[i] : [
        ...roundTicks(0, axis.end).map((v) => tick("tx", "left", v / axis.end, v)),
        ...roundTicks(axis.low, axis.high).map((v) => tick("ty", "bottom", height(v), v)),
      ];
      area.append(...own);
    });
    if (pi === startPrior) {
      for (const [element, d] of drawn) if (/^(pr|nb|act)-|^(base|all|none)$/.test(element.dataset.draw || "")) element.setAttribute("d", d);
      return;
    }
    set("base", `M0,${round(1 - pi)}H1000`);
    const last = Math.min(axis.end, 0.995);
    const curve = (/** @type {(t: number) => number} */ f) => path(steps.map((x) => [(x * last) / axis.end, height(f(x * last))]));
    set("none", `M0,${round(1 - height(0))}H1000`);
    set("all", curve((t) => pi - ((1 - pi) * t) / (1 - t)));
    set("nb-band", ""); // known for the prevalence at the start
    scores.forEach((s, k) => {
      const tpr = (/** @type {number} */ i) => s.tp[i] / P, fpr = (/** @type {number} */ i) => s.fp[i] / N;
      let before = 0; // steps, from the first cut that flags anything
      set(`pr-${k}`, path(s.t.flatMap((_, i) => {
        const right = pi * tpr(i), wrong = (1 - pi) * fpr(i);
        if (!(right + wrong > 0)) return [];
        const at = right / (right + wrong), from = before;
        before = tpr(i);
        return /** @type {[number, number][]} */ ([[from, at], [before, at]]);
      })));
      set(`nb-${k}`, curve((t) => bestBenefit(s, t, pi)));
      set(`act-${k}`, s.chance ? curve((t) => benefit(s, lastAtLeast(s, t), t, pi)) : "");
    });
  };

  /** The last cut whose threshold is at least this. */
  const lastAtLeast = (/** @type {Score} */ s, /** @type {number} */ t) => {
    let a = 0, b = s.t.length - 1;
    while (a < b) {
      const middle = (a + b + 1) >> 1;
      if (s.t[middle] >= t) a = middle;
      else b = middle - 1;
    }
    return a;
  };

  // ---------------------------------------------------------------- what people do

  const setRatio = (/** @type {Ratio | null} */ ratio) => {
    $("ratio-number").setAttribute("aria-invalid", String(!ratio));
    if (!ratio) return;
    state.ratio = ratio.text === start.text ? start : ratio;
    state.mode = "costs";
    $("ratio").value = String(nearest(data.ratios.map(Number), ratio.value));
    update();
  };
  const setPrior = (/** @type {number | null} */ value) => {
    state.prior = value;
    if (state.mode === "asked" && state.ratio === start && data.follows) state.mode = "costs";
    $("prior").value = String(nearest(data.priors.map((/** @type {number | null} */ p) => (p === null ? P / (P + N) : p)), prior()));
    update();
  };
  const nearest = (/** @type {number[]} */ values, /** @type {number} */ x) => {
    let k = 0;
    values.forEach((value, i) => (k = Math.abs(Math.log(value / x)) < Math.abs(Math.log(values[k] / x)) ? i : k));
    return k;
  };
  /** Moves one end; what is blocked is part of what is not passed. */
  const setCut = (/** @type {number} */ k, /** @type {"cut" | "review"} */ which = "cut") => {
    state.mode = "hand";
    state[which] = clip(k, 0, score().t.length - 1);
    if (which === "review") state.cut = Math.min(state.cut, state.review);
    else state.review = threeWay ? Math.max(state.cut, state.review) : state.cut;
    update();
  };
  const setScore = (/** @type {number} */ d) => {
    state.d = d;
    if (state.mode === "hand") state.mode = "costs";
    showScore();
    update();
  };
  const showScore = () => {
    const { d } = state;
    for (const element of all(".of[data-d]")) element.hidden = element.dataset.d !== String(d);
    for (const element of all("g[data-d], .legend [data-d]")) element.classList.toggle("on", element.dataset.d === String(d));
    // The chosen curve is drawn last, above the others.
    for (const element of all("g.on[data-d]")) element.parentElement?.append(element);
    document.querySelector(`[data-chart=scores] .of[data-d="${d}"] .area`)?.append(...ends.map((one) => one.handle));
  };

  $("controls").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  $("ratio").addEventListener("input", () => {
    const k = Number($("ratio").value);
    const ratio = k === data.ratioAt ? start : ratioOf(data.ratios[k]);
    $("ratio-number").value = data.ratios[k];
    setRatio(ratio);
  });
  $("ratio-number").addEventListener("change", () => setRatio(ratioOf($("ratio-number").value)));
  $("prior").addEventListener("input", () => {
    setPrior(data.priors[Number($("prior").value)]);
    $("prior-number").value = share(prior());
  });
  $("prior-number").addEventListener("change", () => {
    const value = Number($("prior-number").value + "e-2"); // 0.7 % is 0.007
    const good = value > 0 && value < 1;
    $("prior-number").setAttribute("aria-invalid", String(!good));
    if (good) setPrior(value);
  });
  $("best").addEventListener("click", () => {
    state.mode = "costs";
    update();
  });
  $("reset").addEventListener("click", () => {
    Object.assign(state, { ratio: start, prior: data.prior, mode: "asked" });
    $("ratio").value = String(data.ratioAt);
    $("ratio-number").value = data.ratios[data.ratioAt];
    $("prior").value = String(data.priorAt);
    $("prior-number").value = share(prior());
    update();
  });
  for (const radio of all('input[name="score"]')) radio.addEventListener("change", () => setScore(Number(/** @type {any} */ (radio).value)));

  for (const { slider, handle, at } of ends) {
    slider.addEventListener("input", () => setCut(score().t.length - 1 - Number(slider.value), at));
    handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const far = Math.max(1, Math.round(score().t.length / 20));
      /** @type {Record<string, number>} */
      const moves = { ArrowRight: -1, ArrowUp: -1, ArrowLeft: 1, ArrowDown: 1, PageUp: -far, PageDown: far, Home: Infinity, End: -Infinity };
      if (!(event.key in moves)) return;
      event.preventDefault();
      setCut(state[at] + moves[event.key], at);
    });
  }
  /** The end that is nearer to a cut: outside of both it is clear which. */
  const nearerEnd = (/** @type {number} */ k) => {
    if (!threeWay || k <= state.cut) return ends[0];
    const [x, block, review] = [k, state.cut, state.review].map((cut) => place(score(), score().t[cut]));
    return k < state.review && Math.abs(x - block) < Math.abs(x - review) ? ends[0] : ends[1];
  };

  const shareOf = (/** @type {PointerEvent} */ event, /** @type {Element} */ area) => {
    const box = area.getBoundingClientRect();
    return /** @type {[number, number]} */ ([clip((event.clientX - box.left) / box.width, 0, 1), clip(1 - (event.clientY - box.top) / box.height, 0, 1)]);
  };
  /** The cut that is nearest to a point of a picture. */
  const nearestCut = (/** @type {(k: number) => number} */ distance) => {
    let k = 0, least = Infinity;
    for (let i = 0; i < score().t.length; i += 1) {
      const far = distance(i);
      if (far < least) [k, least] = [i, far];
    }
    return k;
  };
  const precision = (/** @type {number} */ k) => {
    const right = (prior() * score().tp[k]) / P, wrong = ((1 - prior()) * score().fp[k]) / N;
    return over(right, right + wrong);
  };
  /** @type {Record<string, (x: number, y: number) => {cut: number, ratio?: number}>} */
  const under = {
    scores: (x) => ({ cut: nearestCut((k) => Math.abs(place(score(), score().t[k]) - x)) }),
    roc: (x, y) => ({ cut: nearestCut((k) => Math.hypot(score().fp[k] / N - x, score().tp[k] / P - y)) }),
    pr: (x, y) => ({ cut: nearestCut((k) => Math.hypot(score().tp[k] / P - x, precision(k) - y)) }),
    cost: (x) => ofRatio((clip(x, 0.001, 0.999) / (1 - clip(x, 0.001, 0.999))) * ((1 - prior()) / prior())),
    nb: (x) => ofRatio(1 / clip(x * axis.end, 1e-6, 0.999) - 1),
  };
  const ofRatio = (/** @type {number} */ value) => {
    const ratio = /** @type {Ratio} */ (ratioOf(general(value, 3)));
    return { cut: bestCuts(score(), ratio, state.prior)[0], ratio: ratio.value };
  };
  const tip = $("tip");
  const explain = (/** @type {PointerEvent} */ event, /** @type {{cut: number, ratio?: number}} */ at) => {
    const c = confusionAt(score(), at.cut), m = measures(deployed(c, state.prior));
    const rule = ruleOf(score(), score().t[at.cut], c);
    const lines = [
      ...(at.ratio === undefined ? [] : [`a missed positive costs ${general(at.ratio, 3)} false alarms`]),
      threeWay ? rule : `flag ${rule}`,
      `recall ${perCent(m.recall)}`,
      `false positive rate ${perCent(m.fpr)}`,
      `precision ${perCent(m.precision)}`,
    ];
    tip.replaceChildren(...lines.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 16 + box.width > innerWidth;
    tip.style.left = `${right ? event.clientX - 16 - box.width : event.clientX + 16}px`;
    tip.style.top = `${clip(event.clientY - box.height - 8, 8, innerHeight - box.height - 8)}px`;
  };
  for (const area of all("[data-plot]")) {
    const find = under[/** @type {string} */ (area.dataset.plot)];
    if (!find) continue;
    let pressed = false, moved = ends[0];
    const move = (/** @type {PointerEvent} */ event) => {
      const [x, y] = shareOf(event, area);
      const at = find(x, y);
      if (pressed && at.ratio === undefined) setCut(at.cut, moved.at);
      else if (pressed) {
        $("ratio-number").value = general(/** @type {number} */ (at.ratio), 3);
        setRatio(ratioOf(general(/** @type {number} */ (at.ratio), 3)));
      }
      explain(event, at);
    };
    area.classList.add("active");
    area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pressed = true;
      moved = nearerEnd(find(...shareOf(event, area)).cut);
      area.setPointerCapture(event.pointerId);
      move(event);
      if (area.dataset.plot === "scores") moved.handle.focus({ preventScroll: true });
      event.preventDefault();
    });
    area.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) area.addEventListener(end, () => (pressed = false));
    area.addEventListener("pointerleave", () => (tip.hidden = true));
  }
  addEventListener("scroll", () => (tip.hidden = true), { passive: true });

  // ---------------------------------------------------------------- the scenario in the address

  /** Everything that was set, so that a link opens the page as it is now. */
  const remember = (/** @type {boolean} */ asked) => {
    const set = new URLSearchParams();
    if (state.d) set.set("score", String(state.d));
    if (state.ratio !== start) set.set("miss", state.ratio.text);
    if (state.prior !== data.prior) set.set("prevalence", String(prior()));
    if (state.mode === "hand") set.set("threshold", (threeWay ? [reviewNow(), thresholdNow()] : [thresholdNow()]).map(repr).join(","));
    else if (!asked) set.set("threshold", state.mode === "costs" ? "best" : "asked");
    const hash = [...set].length ? `#${set}` : "";
    if (hash !== location.hash && (hash || location.hash.includes("="))) history.replaceState(null, "", hash || location.pathname + location.search);
  };
  const recall = () => {
    const set = new URLSearchParams(location.hash.slice(1));
    if (![...set.values()].some(Boolean)) return;
    const d = Number(set.get("score")), radio = all('input[name="score"]')[d];
    const ratio = ratioOf(set.get("miss") || ""), share_ = Number(set.get("prevalence")), t = set.get("threshold");
    if (ratio) state.ratio = ratio.text === start.text ? start : ratio;
    if (share_ > 0 && share_ < 1) state.prior = share_ === P / (P + N) ? null : share_;
    state.mode = t === "best" ? "costs" : t === null || t === "asked" ? "asked" : "hand";
    if (radio) {
      /** @type {any} */ (radio).checked = true;
      state.d = d;
    }
    if (state.mode === "hand") {
      const cuts = String(t).split(",").map((one) => lastAtLeast(score(), Number(finite(one))));
      [state.review, state.cut] = [cuts[0], cuts[cuts.length - 1]];
    }
    $("ratio").value = String(nearest(data.ratios.map(Number), state.ratio.value));
    $("ratio-number").value = state.ratio.text;
    $("prior").value = String(nearest(data.priors.map((/** @type {number | null} */ p) => (p === null ? P / (P + N) : p)), prior()));
    $("prior-number").value = share(prior());
    showScore();
  };
  // Links of the table of contents leave the scenario in the address.
  for (const link of all(".contents a")) {
    link.addEventListener("click", (event) => {
      const target = /** @type {HTMLDetailsElement | null} */ (document.querySelector(/** @type {string} */ (link.getAttribute("href"))));
      if (!target) return;
      event.preventDefault();
      target.open = true;
      target.scrollIntoView();
    });
  }

  // ---------------------------------------------------------------- copies and files

  $("copy").addEventListener("click", async () => {
    const text = (threeWay ? [reviewNow(), thresholdNow()] : [thresholdNow()]).map((t) => repr(score().reverse ? 0 - t : t)).join(",");
    try {
      await navigator.clipboard.writeText(text);
      $("copy").textContent = "Copied";
    } catch {
      $("copy").textContent = text; // to be copied by hand
    }
    setTimeout(() => ($("copy").textContent = "Copy threshold"), 2000);
  });
  $("more").addEventListener("click", () => {
    const open = all(".controls")[0].classList.toggle("open");
    $("more").setAttribute("aria-expanded", String(open));
  });
  $("scale").addEventListener("click", () => {
    const counts = !all(".plot.wide")[0].classList.toggle("density");
    $("scale").setAttribute("aria-pressed", String(counts));
    $("scale").textContent = counts ? "Show density" : "Show counts";
  });

  /** The rows of a chart as a table. @type {Record<string, () => any[][]>} */
  const table = {
    scores: () => [["from", "to", "positives", "negatives"], ...score().bins[0].map((pos, k) => [score().edges[k], score().edges[k + 1], pos, score().bins[1][k]])],
    roc: () => [["threshold", "false_positive_rate", "sensitivity"], ...score().t.map((t, k) => [t, score().fp[k] / N, score().tp[k] / P])],
    pr: () => [["threshold", "recall", "precision"], ...score().t.map((t, k) => [t, score().tp[k] / P, precision(k)])],
    cost: () => [["threshold", "false_positive_rate", "false_negative_rate"], ...score().hull.map((k) => [score().t[k], score().fp[k] / N, 1 - score().tp[k] / P])],
    nb: () => [["threshold_probability", "net_benefit", "treat_all"], ...steps.map((x) => x * Math.min(axis.end, 0.995)).map((t) => [t, bestBenefit(score(), t, prior()), prior() - ((1 - prior()) * t) / (1 - t)])],
    shares: () => [["from", "to", "observed_event_rate"], ...score().shares[0].map((high, k) => [score().shares[1][k], high, score().shares[2][k]])],
  };
  const save = (/** @type {string} */ href, /** @type {string} */ name) => Object.assign(document.createElement("a"), { href, download: name }).click();

  /** A chart as an SVG of its own: lines with their styles, ticks and names as text. */
  const standalone = (/** @type {HTMLElement} */ figure) => {
    const frame = /** @type {HTMLElement} */ ([...figure.querySelectorAll(".frame")].find((e) => /** @type {HTMLElement} */ (e).offsetParent));
    const area = /** @type {HTMLElement} */ (frame.querySelector(".area"));
    const outer = frame.getBoundingClientRect(), box = area.getBoundingClientRect();
    const svg = /** @type {SVGSVGElement} */ (area.querySelector("svg"));
    const ns = svg.namespaceURI, out = document.createElementNS(ns, "svg"), inner = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
    const give = (/** @type {Element} */ e, /** @type {Record<string, any>} */ attributes) => {
      for (const key in attributes) e.setAttribute(key, String(attributes[key]));
      return e;
    };
    const paper = getComputedStyle(figure).backgroundColor;
    // Room for the title above, and for ticks that reach over the sides.
    const margin = 16, top = 28, width = outer.width + 2 * margin, tall = outer.height + top;
    give(out, { width, height: tall, viewBox: `${-margin} ${-top} ${width} ${tall}` });
    out.append(give(document.createElementNS(ns, "rect"), { x: -margin, y: -top, width, height: tall, fill: paper }));
    const title = give(document.createElementNS(ns, "text"), { x: 0, y: 0, fill: getComputedStyle(figure).color, "font-size": 15, "font-weight": 600, "font-family": "sans-serif" });
    title.textContent = figure.querySelector("h3")?.textContent || "";
    out.append(title);
    const styled = [...svg.querySelectorAll("path")];
    [...inner.querySelectorAll("path")].forEach((copy, k) => {
      const style = getComputedStyle(styled[k]);
      if (style.display === "none") return copy.remove();
      for (const key of ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity"]) copy.setAttribute(key, style.getPropertyValue(key));
      return copy.setAttribute("vector-effect", "non-scaling-stroke");
    });
    out.append(give(inner, { x: box.left - outer.left, y: box.top - outer.top, width: box.width, height: box.height }));
    for (const e of frame.querySelectorAll(".dot")) {
      const b = e.getBoundingClientRect();
      if (b.width) out.append(give(document.createElementNS(ns, "circle"), { cx: b.left + b.width / 2 - outer.left, cy: b.top + b.height / 2 - outer.top, r: 6, fill: getComputedStyle(e).backgroundColor }));
    }
    for (const e of frame.querySelectorAll(".tx, .ty, .nx, .ny")) {
      const b = e.getBoundingClientRect(), style = getComputedStyle(e);
      if (!b.width) continue;
      const x = b.left + b.width / 2 - outer.left, y = b.top + b.height / 2 - outer.top;
      const text = give(document.createElementNS(ns, "text"), { x, y, fill: style.color, "font-size": style.fontSize, "font-family": "sans-serif", "text-anchor": "middle", "dominant-baseline": "central" });
      if (e.classList.contains("ny")) text.setAttribute("transform", `rotate(-90 ${x} ${y})`);
      text.textContent = e.textContent;
      out.append(text);
    }
    return { markup: new XMLSerializer().serializeToString(out), width, tall };
  };
  for (const button of all("[data-export]")) {
    button.addEventListener("click", () => {
      const figure = /** @type {HTMLElement} */ (button.closest("figure")), key = /** @type {string} */ (figure.dataset.chart);
      if (button.dataset.export === "csv") {
        const text = table[key]().map((row) => row.join(",")).join("\n");
        return save(`data:text/csv;charset=utf-8,${encodeURIComponent(text + "\n")}`, `${key}.csv`);
      }
      const { markup, width, tall } = standalone(figure), image = new Image();
      image.onload = () => {
        const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * tall });
        /** @type {any} */ (canvas.getContext("2d")).drawImage(image, 0, 0, 2 * width, 2 * tall);
        save(canvas.toDataURL("image/png"), `${key}.png`);
      };
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(markup)}`;
      return undefined;
    });
  }

  // ---------------------------------------------------------------- light and dark

  const themes = ["auto", "light", "dark"];
  const setTheme = (/** @type {string} */ theme) => {
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = `Theme: ${theme}`;
    try {
      localStorage.setItem("cutscore-theme", theme);
    } catch {
      // Pages from disk may have no storage.
    }
  };
  let theme = "auto";
  try {
    theme = localStorage.getItem("cutscore-theme") || "auto";
  } catch {
    // As above.
  }
  setTheme(themes.includes(theme) ? theme : "auto");
  $("theme").hidden = false;
  $("theme").addEventListener("click", () => setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme || "auto") + 1) % 3]));

  document.documentElement.classList.add("live");
  recall();
  addEventListener("hashchange", () => {
    recall();
    update();
  });
  update();
})();
