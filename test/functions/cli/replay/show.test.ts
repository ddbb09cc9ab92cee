/** `dogwatch replay show` on fakes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { meant, type ShowOptions, showLetters } from '../../../../functions/cli/replay/show.ts';
import { leftText, printable } from '../../../../functions/cli/replay/text.ts';
import { ConfigError, TransientError } from '../../../../functions/core/errors.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import { after } from '../../core/example-data.ts';
import { letterBody, movedBody, record, TARGET } from '../../replay/letters.ts';
import { ReplayScene } from './scene.ts';

async function show(scene: ReplayScene, words: string, { json, ...options }: ShowOptions = {}): Promise<number> {
  const desk = await scene.desk(json ?? false);
  return scene.clock.finish(showLetters(desk, scene.source, words, meant(words, options)));
}

describe('replay show', () => {
  it('shows all letters of an object beside its present state and what changed since', async () => {
    const scene = new ReplayScene();
    const uid = scene.tenant('acme', {
      conditions: [{ type: 'Ready', status: 'False', reason: 'Invalid', message: 'no', lastTransitionTime: '2026-03-01T12:01:00Z' }],
    });
    scene.east.edit(tenant.resource, { name: 'acme' }, (draft) => {
      Object.assign(draft['metadata'] as object, {
        generation: 4,
        managedFields: [
          { manager: 'kubectl-edit', operation: 'Update', time: '2026-03-01T12:20:00Z', fieldsV1: { 'f:spec': { 'f:quota': {} } } },
        ],
      });
    });
    scene.queue.add(letterBody({ name: 'other' }));
    const own = scene.queue.add(letterBody({ name: 'acme', uid, generation: 2 }, { httpStatus: 422, httpReason: 'Invalid' }), {
      attributes: { code: 'invalid' },
      sentAtMs: after(60).getTime(),
    });
    const moved = scene.queue.add(movedBody({ name: 'acme', uid, firstSeenAt: '2026-03-01T11:00:00.000Z' }));
    assert.equal(await show(scene, 'tenant/acme'), 0);
    const text = scene.printed.join('\n');
    assert.ok(text.indexOf(`letter ${moved}: undiagnosed, undiagnosed`) < text.indexOf(`letter ${own}: diagnosed, invalid`), text);
    for (const line of [
      `  object     east: Tenant.platform.example acme, uid ${uid}`,
      '  sent       for generation-changed, attempt 1, generation 2',
      '  given up   at 2026-03-01T12:01:00.000Z by function version 7',
      '  because    invalid (TerminalError, HTTP 422 Invalid): spec.quota: must be set',
      '  kept       SQS deletes it at 2026-03-15T12:01:00Z, in 13d 23h; received 1 time',
      '  attribute  code=invalid',
      '  verdict    to replay: not reconciled for its generation',
      "  object     generation 4, 2 changes of the spec since the letter's 2; reconciled never",
      '  condition  Ready=False Invalid since 2026-03-01T12:01:00Z: no',
      '  written    at 2026-03-01T12:20:00Z by kubectl-edit: spec.quota',
    ])
      assert.ok(scene.printed.includes(line), `${line}\n\n${text}`);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it("shows one letter by its message id, also one that is nobody's, whole and harmless", async () => {
    const scene = new ReplayScene();
    scene.queue.add(letterBody());
    const id = scene.queue.add('hello\n\u001b[2Jworld');
    assert.equal(await show(scene, id), 0);
    const text = scene.printed.join('\n');
    assert.match(text, /^letter message-2: foreign, foreign\n {2}read as +body is not JSON$/m);
    assert.match(text, /^ {4}hello\n {4}\ufffd\[2Jworld$/m);
    assert.match(text, /verdict +unreadable: not an envelope of ours/);
    assert.equal(scene.east.requests.length, 0);
  });

  it('says what it could not find out', async () => {
    const scene = new ReplayScene();
    scene.queue.add(letterBody({ cluster: 'north' }));
    scene.queue.add(letterBody());
    scene.east.fault({ verb: 'get' }, { throw: new TransientError('forbidden', 'the function may not read it') });
    assert.equal(await show(scene, 'tenants/t', { cluster: 'east' }), 0);
    assert.match(scene.printed.join('\n'), /verdict +unknown: we may not read it \(the function may not read it\)/);
    assert.equal(scene.printed.filter((line) => line.startsWith('letter ')).length, 1);
  });

  it('is a line of JSON for a program, with the envelope whole', async () => {
    const scene = new ReplayScene();
    scene.queue.add(letterBody({ uid: scene.tenant('t', { observedGeneration: 1 }) }));
    assert.equal(await show(scene, 'tenant/t', { json: true }), 0);
    const { letters } = JSON.parse(scene.printed.join('')) as {
      letters: { envelope: { data: { name: string } }; verdict: object; body?: string }[];
    };
    assert.deepEqual([letters.length, letters[0]?.envelope.data.name, letters[0]?.body], [1, 't', undefined]);
    assert.deepEqual(letters[0]?.verdict, { class: 'converged', reason: 'settled' });
  });

  it('says how many letters more there are of an object', async () => {
    const scene = new ReplayScene();
    for (let at = 0; at < 13; at += 1) scene.queue.add(letterBody());
    await show(scene, 'tenant/t');
    assert.equal(scene.printed.filter((line) => line.startsWith('letter ')).length, 10);
    assert.deepEqual(scene.said, ['3 letters more of tenant/t; a message id shows one']);
  });

  it('ends with 1 where there is none', async () => {
    const scene = new ReplayScene();
    scene.queue.add(letterBody());
    assert.equal(await show(scene, 'tenant/acme'), 1);
    assert.deepEqual([scene.printed, scene.said], [[], ['no letter of tenant/acme among 1']]);
  });

  const rows = [
    ['tenant/t', {}, true],
    ['Tenants.platform.example/t', {}, true],
    ['tenant/t', { cluster: 'east' }, true],
    ['tenant/t', { cluster: 'west' }, false],
    ['tenant/t', { namespace: 'team' }, false],
    ['tenant/u', {}, false],
    ['queueclaim/t', {}, false],
    ['message-1', {}, true],
    ['message-2', {}, false],
  ] as const;
  for (const [words, options, isMeant] of rows) {
    it(`${words} ${JSON.stringify(options)} ${isMeant ? 'means' : 'does not mean'} a letter of ${TARGET.cluster} tenant t`, () => {
      assert.equal(meant(words, options)(record()), isMeant);
    });
  }

  for (const words of ['', 'a/b/c', 'tenant/', 'what is it', 'ten ant']) {
    it(`refuses ${JSON.stringify(words)}`, () => {
      assert.throws(
        () => meant(words, {}),
        (error) => error instanceof ConfigError && /neither KIND\/NAME, such as tenant\/acme, nor a message id/.test(error.message),
      );
    });
  }
});

describe('text', () => {
  it('lets nothing through that moves a cursor, hides or turns text round', () => {
    assert.equal(printable('a\u001b[2J\u0007\u009b\u202e\u200b\u2028\ud800é😀'), 'a\ufffd[2J\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdé😀');
  });

  it('says how long there is left, in two words', () => {
    const left = (seconds: number): string => leftText(after(seconds).getTime(), after(0));
    assert.deepEqual(
      [left(-5), left(59), left(61), left(3 * 3600 + 120), left(86_400 * 2 + 3600 * 5)],
      ['due', 'due', '1m', '3h 2m', '2d 5h'],
    );
    assert.equal(leftText(undefined, after(0)), '-');
  });
});
