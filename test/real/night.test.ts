/**
 * A night on call, whole: 600 letters of seven causes over 150 objects in two clusters, one of which is down by then. The plan knows what
 * each needs; apply stops by itself while the causes persist; once they are mended, a killed apply and the same command again bring the
 * queue to exactly those letters that nobody can do anything about.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readLetter } from '../../functions/core/letter.ts';
import { BATCH_MAX } from '../../functions/replay/apply/batch.ts';
import type { PlanHead, PlanItem } from '../../functions/replay/plan.ts';
import { until } from './api.ts';
import { type Account, accountOf, auditLines } from './night-audit.ts';
import { CAST, CODES, expectedVerdict, LETTER_COUNT, type Member, membersWith } from './night-cast.ts';
import { type Night, startNight } from './night-scene.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { runsOf } from './runs.ts';
import { isSettled, TENANTS } from './tenants.ts';

type Plan = PlanHead & { readonly items: readonly PlanItem[] };

/** Short, for a test; what fails here fails within two seconds. */
const APPLY = ['--canary', '5', '--canary-timeout', '6s', '--rate', '10', '--stop-at', '20%', '--yes'];
/** Sends after which apply is killed, as soon as it has announced more than it knows of; if that is never seen, after the second number. */
const KILL_AFTER = [25, 45] as const;

const byName = new Map(CAST.map((member) => [member.name, member]));

describe('a night on call', { timeout: 300_000 }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-night-'));
  const beganMs = Date.now();
  const told: string[] = [];
  const say = (what: string): void => void told.push(`${((Date.now() - beganMs) / 1000).toFixed(1)} s: ${what}`);
  let night: Night;
  /** Every letter before anything was done, by message id. */
  let first: ReadonlyMap<string, string>;
  /** Every letter after the apply that stopped. */
  let second: ReadonlyMap<string, string>;
  let stopped: Account;

  before(async () => {
    night = await startNight(say);
    first = await night.queues.letters();
  });
  after(async () => {
    await night?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function replay(...words: string[]): RunningProcess {
    const all: Readonly<Record<string, string>> = night.system.lab.envFor('admin');
    const needed = Object.entries(all).filter(([name]) => /^AWS_|^DOGWATCH_/.test(name));
    return startProcess(
      [process.execPath, join(process.cwd(), 'functions/cli/bin.js'), 'replay', ...words],
      Object.fromEntries(needed),
      dir,
    );
  }

  async function plan(name: string): Promise<Plan> {
    const path = join(dir, name);
    const command = replay('plan', '--out', path);
    assert.equal(await command.exited, 0, command.lines.join('\n'));
    return JSON.parse(readFileSync(path, 'utf8')) as Plan;
  }

  /** Class and reason of each letter, as the plan has it. */
  function planned({ items }: Plan): Map<string, string> {
    return new Map(items.flatMap((item) => item.letters.map(({ messageId }) => [messageId, verdictOf(item)])));
  }

  /** The same, as the script knows it. A cluster that does not answer is not asked for each of its objects, so its reason varies. */
  function expected(letters: ReadonlyMap<string, string>, isWestUp: boolean): Map<string, string> {
    return new Map([...letters].map(([id, body]) => [id, verdictBy(body, isWestUp)]));
  }

  it('begins with 600 letters of seven causes over 150 objects', () => {
    const counts: Record<string, number> = {};
    for (const body of first.values()) {
      const { code } = readLetter({ body, attributes: {} });
      counts[code] = (counts[code] ?? 0) + 1;
    }
    assert.deepEqual(counts, {
      [CODES.foreign]: 160,
      [CODES.bug]: 160,
      [CODES.frozen]: 80,
      [CODES.refused]: 80,
      [CODES.moved]: 80,
      [CODES.north]: 20,
      foreign: 12,
      heartbeat: 8,
    });
    assert.deepEqual([first.size, CAST.length], [LETTER_COUNT, 150]);
  });

  it('is classed right, letter by letter, also what SQS moved by itself, while one cluster is down (B37)', async () => {
    const made = await plan('first.json');
    say('planned');
    assert.deepEqual(planned(made), expected(first, false));
    assert.deepEqual([made.letters, made.objects, made.warnings], [LETTER_COUNT, CAST.length, []]);
    assert.deepEqual(await night.queues.letters(), first);
  });

  it('is not made worse by an apply while the causes persist: it stops by itself, and nothing is lost', async () => {
    const command = replay('apply', 'first.json', ...APPLY);
    assert.equal(await command.exited, 1, command.lines.join('\n'));
    say('apply has stopped by itself');
    stopped = accountOf(auditLines(join(dir, 'first.audit.jsonl')));
    assert.deepEqual(
      stopped.summaries.map(({ end }) => end),
      ['too-many-bad'],
    );
    // One of each cause, of which one is of objects that are well.
    assert.deepEqual(stopped.sent.map((name) => byName.get(name)?.cause).sort(), ['bug', 'foreign', 'frozen', 'moved', 'refused']);
    assert.deepEqual([...stopped.verdicts].map(([name, verdict]) => [byName.get(name)?.cause, verdict]).sort(), [
      ['bug', 'bad'],
      ['foreign', 'bad'],
      ['frozen', 'bad'],
      ['moved', 'quiet'],
      ['refused', 'bad'],
    ]);
    // A right that is missing is tried for hours before its message is a letter again.
    await night.queues.holds(LETTER_COUNT - stopped.deleted.size + 3);
    second = await night.queues.letters();
    const back = [...second.keys()].filter((id) => !first.has(id));
    assert.deepEqual(back.map((id) => memberOf(second.get(id))?.cause).sort(), ['bug', 'foreign', 'refused']);
    assert.deepEqual(idsOf(first), sorted([...stopped.deleted, ...[...second.keys()].filter((id) => first.has(id))]));
    assert.deepEqual(idsOf(first), sorted([...stopped.deleted, ...stopped.left.keys()]), 'the audit accounts for all');
  });

  it('is classed right once more when the causes are mended and both clusters are up', async () => {
    await night.fix();
    say('all causes are mended');
    const made = await plan('second.json');
    assert.deepEqual(planned(made), expected(second, true));
  });

  it('is over by an apply that is killed in its ramp, and the same command again', async (t) => {
    const path = join(dir, 'second.audit.jsonl');
    const killed = replay('apply', 'second.json', ...APPLY);
    await until('the ramp', () => (existsSync(path) && isWorstMoment(accountOf(auditLines(path)))) || undefined, 60_000, 5);
    killed.signal('SIGKILL');
    assert.equal(await killed.exited, 'SIGKILL');
    const before = accountOf(auditLines(path));
    say(`apply was killed after ${before.sent.length} sends, with ${before.unanswered.length} under way`);
    const again = replay('apply', 'second.json', ...APPLY);
    assert.equal(await again.exited, 0, again.lines.join('\n'));
    say('apply is done');
    await night.system.drained();
    const whole = accountOf(auditLines(path));
    const last = await night.queues.letters();
    const stays = [...first].filter(([, body]) => staysFor(body)).map(([id]) => id);
    assert.deepEqual(idsOf(last), sorted(stays));
    assert.deepEqual(idsOf(second), sorted([...whole.deleted, ...last.keys()]));
    assert.deepEqual(idsOf(last), sorted([...whole.left.keys()]));
    const accounted = new Set([...stopped.deleted, ...whole.deleted, ...whole.left.keys()]);
    assert.deepEqual(
      idsOf(first).filter((id) => !accounted.has(id)),
      [],
      'the audits account for all',
    );
    await allAreWell();
    const runs = Map.groupBy(
      runsOf(night.system).filter(({ reason, attempt }) => reason === 'replay' && attempt === 1),
      ({ key }) => key,
    );
    const twice = [...runs.values()].filter(({ length }) => length > 1);
    say(`${runs.size} objects were replayed, ${twice.length} of them twice`);
    t.diagnostic(told.join('\n'));
    assert.ok(twice.length <= BATCH_MAX && twice.every(({ length }) => length === 2), `${twice.length} objects were sent twice`);
  });

  /** Every Tenant but those that are paused. */
  async function allAreWell(): Promise<void> {
    for (const cluster of ['east', 'west'] as const) {
      const { items } = (await night.system.apiOf(cluster).get(TENANTS)).body;
      const unwell = items.filter((item) => !isSettled(item)).map(({ metadata }) => metadata.name);
      assert.deepEqual(
        unwell.sort(),
        membersWith({ fate: 'paused', cluster })
          .map(({ name }) => name)
          .sort(),
      );
    }
  }
});

function sorted(ids: Iterable<string>): string[] {
  return [...ids].sort();
}

function idsOf(letters: ReadonlyMap<string, string>): string[] {
  return sorted(letters.keys());
}

function memberOf(body = ''): Member | undefined {
  const letter = readLetter({ body, attributes: {} });
  return 'envelope' in letter ? byName.get(letter.envelope.data.name) : undefined;
}

function isWorstMoment({ sent, unanswered }: Account): boolean {
  const [least, most] = KILL_AFTER;
  return (sent.length >= least && unanswered.length > 0) || sent.length >= most;
}

/** What no apply can do anything about: it says nothing, is of a cluster that nobody knows, or of an object that somebody paused. */
function staysFor(body: string): boolean {
  return /^(unreadable|unknown)|paused$/.test(verdictBy(body, true));
}

function verdictOf({ class: name, reason }: PlanItem): string {
  return name === 'unknown' && /^(unreachable|given-up|timeout)$/.test(reason) ? 'unknown' : `${name} ${reason}`;
}

function verdictBy(body: string, isWestUp: boolean): string {
  const letter = readLetter({ body, attributes: {} });
  if (letter.kind === 'heartbeat') return 'converged heartbeat';
  if (letter.kind === 'foreign') return 'unreadable foreign';
  const member = memberOf(body);
  if (member === undefined) throw new Error(`nobody of the cast: ${body}`);
  return expectedVerdict(member, isWestUp);
}
