/** A person at a desk who carries out plans: a world of letters and objects, plans in a folder, and all that was told. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApplyTools, carryOut } from '../../../../functions/cli/replay/apply.ts';
import { type ApplyCommandOptions, settingsOf } from '../../../../functions/cli/replay/apply-options.ts';
import type { Desk } from '../../../../functions/cli/replay/desk.ts';
import { classesOf, type DropTools, dropPlan } from '../../../../functions/cli/replay/drop.ts';
import { Progress } from '../../../../functions/cli/replay/progress.ts';
import { openAudit } from '../../../../functions/replay/apply/audit-file.ts';
import { openDropFile } from '../../../../functions/replay/dropped-file.ts';
import type { PlanItem } from '../../../../functions/replay/plan.ts';
import { readPlan } from '../../../../functions/replay/plan-reader.ts';
import { World } from '../../replay/apply/world.ts';

export class ActingScene {
  readonly world = new World();
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'dogwatch-acting-')));
  readonly planPath = join(this.dir, 'night.json');
  readonly stop = new AbortController();
  readonly printed: string[] = [];
  readonly told: string[] = [];
  readonly asked: string[] = [];
  /** What is typed; left out: nobody is there. */
  answer: string | undefined;
  /** Files beside the plan while it was asked. */
  whenAsked: readonly string[] = [];
  readonly #screen = { columns: undefined, write: (text: string): void => void this.told.push(text.replace(/\n$/, '')) };

  dispose(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** The plan of all letters that there are, as a file. */
  async plan(change: (items: readonly PlanItem[]) => readonly PlanItem[] = (items) => items): Promise<void> {
    const { items } = await this.world.plan();
    const { url, arn } = await this.world.letters.describe();
    const head = { plan: 'dogwatch-replay', version: 1, madeAt: this.world.clock.now().toISOString(), queue: { url, arn } };
    writeFileSync(this.planPath, JSON.stringify({ ...head, items: change(items) }));
  }

  async apply(options: ApplyCommandOptions = { yes: true }): Promise<number> {
    const { world } = this;
    const settings = settingsOf(options, 'ada@laptop');
    const tools: ApplyTools = {
      ...this.#tools(),
      ...{ sender: world.bulk, bulkQueueUrl: 'https://sqs/0/bulk', source: world.source, openAudit, command: 'dogwatch replay apply' },
    };
    return this.#acting(async (desk) => carryOut(desk, readPlan(this.planPath), { settings, yes: options.yes ?? false }, tools), options);
  }

  async drop(options: { class?: string[]; yes?: boolean; json?: boolean } = { yes: true }): Promise<number> {
    const tools: DropTools = { ...this.#tools(), openFile: openDropFile, by: 'ada@laptop', command: 'dogwatch replay drop' };
    const classes = classesOf(options.class);
    return this.#acting((desk) => dropPlan(desk, readPlan(this.planPath), { classes, yes: options.yes ?? false }, tools), options);
  }

  /** Lines of a file beside the plan. */
  lines(ending: 'audit' | 'dropped'): { readonly kind: string; readonly [name: string]: unknown }[] {
    const text = readFileSync(join(this.dir, `night.${ending}.jsonl`), 'utf8');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  #tools() {
    const ask = async (question: string): Promise<string | undefined> => {
      this.asked.push(question);
      this.whenAsked = readdirSync(this.dir);
      return this.answer;
    };
    return { terminal: { isInteractive: this.answer !== undefined, ask }, progress: new Progress(this.world.clock, this.#screen) };
  }

  async #acting(work: (desk: Desk) => Promise<number>, { json = false }: { json?: boolean }): Promise<number> {
    const { letters: queue, clock } = this.world;
    const print = (line: string): void => void this.printed.push(line);
    const say = (line: string): void => void this.told.push(line);
    const desk: Desk = { queue, clock, stop: this.stop.signal, description: await queue.describe(), json, print, say };
    // Files take real time, of which the clock knows nothing.
    let isOver = false;
    const result = work(desk).finally(() => {
      isOver = true;
    });
    result.catch(() => {});
    while (!isOver) {
      await clock.settle();
      const next = clock.nextInMs;
      if (next !== undefined) await clock.advance(next);
    }
    return result;
  }
}
