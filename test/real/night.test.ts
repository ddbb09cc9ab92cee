/**
 * A night on call, whole: 600 letters of seven causes over 150 objects in two clusters, one of which is down by then. The plan knows what
 * each needs; apply stops by itself while the causes persist; once they are mended, a killed apply and the same command again bring the
 * queue to exactly those letters that nobody can do anything about.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readLetter } from '../../functions/core/letter.ts';
import type { PlanHead, PlanItem } from '../../functions/replay/plan.ts';
import { CAST, CODES, expectedVerdict, LETTER_COUNT } from './night-cast.ts';
import { type Night, startNight } from './night-scene.ts';
import { type RunningProcess, startProcess } from './process.ts';

type Plan = PlanHead & { readonly items: readonly PlanItem[] };

const byName = new Map(CAST.map((member) => [member.name, member]));

describe('a night on call', { timeout: 300_000 }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-night-'));
  const beganMs = Date.now();
  const say = (what: string): void => console.log(`# ${((Date.now() - beganMs) / 1000).toFixed(1)} s: ${what}`);
  let night: Night;
  /** Every letter before anything was done, by message id. */
  let first: ReadonlyMap<string, string>;

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

  it('is classed right, letter by letter, while one cluster is down', async () => {
    const made = await plan('first.json');
    say('planned');
    assert.deepEqual(planned(made), expected(first, false));
    assert.deepEqual([made.letters, made.objects, made.warnings], [LETTER_COUNT, CAST.length, []]);
    assert.deepEqual(await night.queues.letters(), first);
  });
});

function verdictOf({ class: name, reason }: PlanItem): string {
  return name === 'unknown' && /^(unreachable|given-up|timeout)$/.test(reason) ? 'unknown' : `${name} ${reason}`;
}

function verdictBy(body: string, isWestUp: boolean): string {
  const letter = readLetter({ body, attributes: {} });
  if (letter.kind === 'heartbeat') return 'converged heartbeat';
  if (letter.kind === 'foreign') return 'unreadable foreign';
  const member = 'envelope' in letter ? byName.get(letter.envelope.data.name) : undefined;
  if (member === undefined) throw new Error(`nobody of the cast: ${body}`);
  return expectedVerdict(member, isWestUp);
}
