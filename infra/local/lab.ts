/** `node infra/local/lab.ts`: real control planes and SQS on this machine, until Ctrl-C. */
import { parseArgs } from 'node:util';
import { exitWithOneLine } from './one-line.ts';
import { shellWord } from './shell-word.ts';
import { type Lab, type LabOptions, startLab } from './start-lab.ts';

const HELP = `Usage: node infra/local/lab.ts [options]

Starts a real Kubernetes control plane for each cluster and SQS (ElasticMQ) on loopback, prints the environment
that Dogwatch needs, and runs until Ctrl-C. Needs Go and a JDK with Maven the first time.

  --cluster NAME   a cluster of this name; may be repeated (default: east)
  --queue KIND     elasticmq or local-aws-sqs (default: elasticmq)
  --dir DIR        keep the clusters' state in DIR and find it there again (default: a temporary folder)
  --audit          write each API server's audit log
  --help           print this
`;

function parse(args: readonly string[]): LabOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cluster: { type: 'string', multiple: true, default: ['east'] },
      queue: { type: 'string', default: 'elasticmq' },
      dir: { type: 'string' },
      audit: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { queue } = values;
  if (queue !== 'elasticmq' && queue !== 'local-aws-sqs') throw new TypeError(`--queue is elasticmq or local-aws-sqs, not ${queue}`);
  return { clusters: values.cluster, queue, auditLog: values.audit, ...(values.dir === undefined ? {} : { dir: values.dir }) };
}

function print(lab: Lab): void {
  for (const [name, { url, dir, auditLogPath }] of lab.clusters) {
    console.error(`cluster ${name}: ${url}, state in ${dir}${auditLogPath === undefined ? '' : `, audit log ${auditLogPath}`}`);
  }
  console.error(`queues: ${lab.queues.endpoint}\n\nIn the other terminals:\n`);
  for (const [name, value] of Object.entries(lab.env)) console.log(`export ${name}=${shellWord(value)}`);
  const tools = [...lab.clusters.values()][0]?.assetsDir;
  if (tools !== undefined) console.log(`export PATH='${tools}':"$PATH"`);
  console.error('\nRunning until Ctrl-C. kubectl is among the programs that the last line puts on the PATH.');
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; at the next one the process ends at once, and its servers with it. */
function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const told = (): void => {
      for (const signal of signals) process.off(signal, told);
      resolve();
    };
    for (const signal of signals) process.on(signal, told);
  });
}

async function main(): Promise<void> {
  let options: LabOptions | undefined;
  try {
    options = parse(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    process.exitCode = 2;
    return;
  }
  if (options === undefined) {
    console.log(HELP);
    return;
  }
  const lab = await startLab(options); // a Ctrl-C meanwhile ends this process and, by the clean-ups at its end, what it had started
  const told = untilToldToStop();
  print(lab);
  const stay = setInterval(() => undefined, 60_000); // the servers do not keep this process alive, and neither do signal handlers
  await told;
  clearInterval(stay);
  console.error('Stopping ...');
  await lab.stop();
}

await main().catch(exitWithOneLine);
