/** What README and runbook tell people to type exists: commands, options, scripts, files, and enough of it for each alarm. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { addReplayCommands } from '../functions/cli/replay.ts';
import { VARIABLES } from '../functions/core/settings.ts';

const root = resolve(import.meta.dirname, '..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const PAGES = ['README.md', 'infra/RUNBOOK.md'];

/** Options of each command, from where they are declared. */
const commands = new Map(
  text('functions/cli/main.ts')
    .split(/\.command\('/)
    .slice(1)
    .map(
      (part) => [part.slice(0, part.indexOf("'")), new Set([...part.matchAll(/'[^']*?(--[a-z-]+)/g)].map(([, option]) => option))] as const,
    ),
);

// Its own commands are declared beside it: `replay apply` and so on.
const replay = new Command();
addReplayCommands(replay, () => {});
commands.set('replay', new Set());
for (const command of replay.commands)
  commands.set(`replay ${command.name()}`, new Set(command.options.flatMap(({ long, short }) => [long ?? '', short ?? ''])));

/** Of a page: each call of ours, as command and options. */
function callsIn(page: string): { call: string; command: string; options: string[] }[] {
  const unbroken = text(page).replace(/\n +/g, ' ');
  return [...unbroken.matchAll(/(?:npm run -s dogwatch -- |`dogwatch )((?:replay )?[a-z]+)([^`|\n]*)/g)].map(
    ([call, command = '', rest = '']) => ({
      call,
      command,
      // What is behind a comment, or another command, is not ours.
      options: [...(rest.split(/ #| npm | aws | kubectl | npx |[.;:] /)[0] ?? '').matchAll(/ (--[a-z-]+)/g)].map(
        ([, option = '']) => option,
      ),
    }),
  );
}

for (const page of PAGES) {
  describe(`commands in ${page}`, () => {
    it('are ours, with options that they have', () => {
      const calls = callsIn(page);
      assert.ok(calls.length > 5);
      for (const { call, command, options } of calls) {
        assert.ok(commands.has(command), call);
        for (const option of options) assert.ok(commands.get(command)?.has(option), `${option} in ${call}`);
      }
    });

    it('name variables of ours only', () => {
      const known = new Set(VARIABLES.map(({ name }) => name));
      for (const [name] of text(page).matchAll(/DOGWATCH_[A-Z_]*[A-Z]/g)) assert.ok(known.has(name), name);
    });

    it('name files of the project that there are', () => {
      const files = [...text(page).matchAll(/\b((?:infra|events|functions)\/[\w./-]*\w)/g)].map(([, file = '']) => file);
      assert.ok(files.length > 0);
      // OVERLAY is to be filled in; what README has one write is not there yet.
      const missing = files.filter((file) => !existsSync(join(root, file.replace(/\/OVERLAY$/, ''))));
      assert.deepEqual(
        missing.filter((file) => !/greeting\.ts$/.test(file)),
        [],
      );
    });
  });
}

describe('what infra/RUNBOOK.md has one set once', () => {
  /** Read by a command from the environment, where no option of the call says it. */
  const READ: Readonly<Record<string, readonly [variable: string, option?: string][]>> = {
    crds: [['DOGWATCH_CLUSTERS']],
    doctor: [['DOGWATCH_CLUSTERS']],
    rbac: [['DOGWATCH_CLUSTERS']],
    reconcile: [['DOGWATCH_CLUSTERS'], ['DOGWATCH_BULK_QUEUE_URL']],
    replay: [['DOGWATCH_CLUSTERS'], ['DOGWATCH_BULK_QUEUE_URL'], ['DOGWATCH_DEAD_LETTER_QUEUE_URL', '--queue']],
  };

  it('is all that its commands read from the environment', () => {
    const [block = ''] = /(\n {4}export .*)+/.exec(text('infra/RUNBOOK.md')) ?? [];
    const set = new Set([...block.matchAll(/ ([A-Z_]+)=/g)].map(([, name = '']) => name));
    for (const { call, command, options } of callsIn('infra/RUNBOOK.md')) {
      for (const [variable, option = ''] of READ[command.replace(/ .*/, '')] ?? []) {
        assert.ok(set.has(variable) || options.includes(option), `${call} needs ${variable}`);
      }
    }
  });
});

describe('"Deploy" in README.md', () => {
  const section = text('README.md').split('\n## Deploy\n')[1]?.split('\n## ')[0] ?? '';

  it('has ten steps, the last of which looks whether all is well', () => {
    const steps = [...section.matchAll(/^(\d+)\. (.+)/gm)];
    assert.deepEqual(
      steps.map(([, number]) => Number(number)),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    assert.match(steps.at(-1)?.[0] ?? '', /dogwatch -- doctor --stage/);
  });

  it('names parameters that a stage has', () => {
    const source = text('infra/parameters.cjs');
    const named = [...section.matchAll(/`([a-z]+(?:[A-Z][a-z]+)+)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !/^(clusters|kubectl)$/.test(name));
    assert.ok(named.includes('clusterNames') && named.includes('alarmTopicArns'));
    for (const name of named) assert.match(source, new RegExp(`^  ${name}: `, 'm'), name);
  });
});

describe('the runbook', () => {
  const sections = text('infra/RUNBOOK.md')
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.slice(section.indexOf('\n'))] as const);

  it('has a section for each thing that is done to a deployment', () => {
    const names = sections.map(([name]) => name).filter((name) => !name.startsWith('Alarm '));
    assert.deepEqual(names, ['Deploy', 'Add a cluster', 'Rotate credentials', 'Upgrade, and roll back', 'Pause', 'Replay dead letters']);
  });

  it('says of each alarm what it means, three commands to begin with, and what to do then', () => {
    const alarms = sections.filter(([name]) => name.startsWith('Alarm '));
    assert.ok(alarms.length >= 12);
    for (const [name, body] of alarms) {
      const [meaning = '', ...rest] = body.split(/\n\n {4}/);
      assert.match(meaning.trim(), /^[A-Z0-9].{60,}/s, name);
      const [commandLines = '', ...then] = rest.join('\n\n    ').split('\n\n');
      assert.equal(commandLines.split('\n').length, 3, name);
      assert.match(then.join('\n').trim(), /^.{60,}/s, name);
    }
  });

  it('says what each command of replay is for', () => {
    const body = sections.find(([name]) => name === 'Replay dead letters')?.[1] ?? '';
    for (const command of replay.commands) assert.match(body, new RegExp(`replay ${command.name()}\\b`), command.name());
  });

  it('has a command, or a no, for each wish that users of other movers had, and where they had it', () => {
    const table = text('infra/RUNBOOK.md').split('### What users of other movers asked for')[1]?.split('\n## ')[0] ?? '';
    const rows = [...table.matchAll(/^\| (?!wish |-)([^|]+) \| ([^|]+) \| ([^|]*) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
    const wishes = rows.map(([wish = '']) => wish);
    const asked = ['limit', 'one message', 'subset', 'attributes kept', 'size-aware batches', 'retry counting', 'no piling duplicates'];
    for (const wish of [...asked, 'rate', 'why it died', 'dry run']) assert.ok(wishes.includes(wish), wish);
    for (const [wish = '', sources = '', here = '', differs = ''] of rows) {
      for (const source of sources.trim().split(', ')) assert.match(source, /^[\w.-]+\/[\w.-]+#\d+$/, wish);
      if (here.trim() === '') assert.match(differs, /^not done: /, wish);
      else assert.match(here, /^`dogwatch replay [^`]+`$/, wish);
    }
  });
});
