/**
 * A function's process, measured from inside: `measured-function.cjs HANDLER`. Told an event, it loads the file and answers it, as a
 * cold start does; after that it does what it is told, one command at a time. CommonJS, and it loads nothing before the function
 * does, so that nothing of its own is measured.
 */
const beganMs = performance.now();
const context = { functionName: 'dogwatch-reconcile', getRemainingTimeInMillis: () => 30_000 };
let handler;
let agent;

async function invoke(event) {
  const { batchItemFailures } = await handler(event, context);
  if (batchItemFailures.length > 0) throw new Error('the function failed its record');
}

/** Load and first run; times are in ms, `beganMs` since the kernel started the process. */
async function coldStart({ event }) {
  const loadingMs = performance.now();
  ({ handler } = require(process.argv[2]));
  const loadedMs = performance.now();
  await invoke(event);
  const answeredMs = performance.now();
  const { user, system } = process.cpuUsage();
  const { readFileSync } = require('node:fs');
  const peakMb = (Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024) / 1e6;
  // Until the parent's message came the process waited: that is no part of a start.
  return {
    loadMs: loadedMs - loadingMs,
    firstMs: answeredMs - loadedMs,
    totalMs: beganMs + answeredMs - loadingMs,
    cpuMs: (user + system) / 1000,
    peakMb,
  };
}

function call({ method, path, headers, body }) {
  const { Agent, request } = require('node:https');
  agent ??= new Agent({ keepAlive: true, ca: process.env.BENCH_CA });
  return new Promise((resolve, reject) => {
    const sent = request(process.env.BENCH_SERVER + path, { method, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    });
    sent.on('error', reject).end(body);
  });
}

/** The same calls without anything around them: those of a step together, the steps one after another. */
async function callAll(steps) {
  for (const step of steps) await Promise.all(step.map(call));
}

async function measure(count, work) {
  const times = [];
  const cpu = process.cpuUsage();
  for (let run = 0; run < count; run += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { ms: times.sort((a, b) => a - b)[Math.floor(count / 2)], cpuMs: (user + system) / 1000 / count };
}

const COMMANDS = {
  'cold-start': coldStart,
  /** Medians of so many runs, and of so many rounds of the bare calls. */
  warm: async ({ event, steps, count }) => ({
    function: await measure(count, () => invoke(event)),
    bare: await measure(count, () => callAll(steps)),
  }),
};

process.on('message', async (command) => process.send(await COMMANDS[command.kind](command)));
process.on('disconnect', () => process.exit());
process.send('ready');
