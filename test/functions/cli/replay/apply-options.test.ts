import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandOf } from '../../../../functions/cli/replay/acting.ts';
import { type ApplyCommandOptions, settingsOf } from '../../../../functions/cli/replay/apply-options.ts';
import { ConfigError } from '../../../../functions/core/errors.ts';

describe('the options of replay apply', () => {
  it('have defaults', () => {
    assert.deepEqual(settingsOf({}, 'ada'), {
      ...{ canary: 5, canaryTimeoutSeconds: 300, ratePerSecond: 5, stopAt: 0.2, again: false, by: 'ada' },
    });
  });

  const right: readonly [
    options: ApplyCommandOptions,
    field: 'canary' | 'canaryTimeoutSeconds' | 'ratePerSecond' | 'stopAt',
    value: number,
  ][] = [
    [{ canary: '1' }, 'canary', 1],
    [{ canary: '10000' }, 'canary', 10_000],
    [{ canaryTimeout: '5m' }, 'canaryTimeoutSeconds', 300],
    [{ canaryTimeout: '300s' }, 'canaryTimeoutSeconds', 300],
    [{ canaryTimeout: '12h' }, 'canaryTimeoutSeconds', 43_200],
    [{ rate: '0.5' }, 'ratePerSecond', 0.5],
    [{ rate: '200' }, 'ratePerSecond', 200],
    [{ stopAt: '0%' }, 'stopAt', 0],
    [{ stopAt: '12.5%' }, 'stopAt', 0.125],
    [{ stopAt: '100%' }, 'stopAt', 1],
  ];
  for (const [options, field, value] of right)
    it(`take ${JSON.stringify(options)} as ${value}`, () => assert.equal(settingsOf(options, 'ada')[field], value));

  const wrong: readonly [options: ApplyCommandOptions, says: RegExp][] = [
    [{ canary: '0' }, /^--canary "0" is not a whole number from 1 to 10000$/],
    [{ canary: '2.5' }, /^--canary /],
    [{ canary: '-1' }, /^--canary /],
    [{ canary: '' }, /^--canary "" /],
    [{ canary: '1e3' }, /^--canary /],
    [{ canaryTimeout: '300' }, /^--canary-timeout "300" is no time of 1s to 12h; write 300s, 5m or 1h$/],
    [{ canaryTimeout: '0s' }, /^--canary-timeout /],
    [{ canaryTimeout: '13h' }, /^--canary-timeout /],
    [{ canaryTimeout: '5 m' }, /^--canary-timeout /],
    [{ canaryTimeout: '1d' }, /^--canary-timeout /],
    [{ rate: '0' }, /^--rate "0" is not a number from 0\.01 to 200, objects a second$/],
    [{ rate: '201' }, /^--rate /],
    [{ rate: 'fast' }, /^--rate /],
    [{ rate: 'Infinity' }, /^--rate /],
    [{ stopAt: '120%' }, /^--stop-at "120%" is not a share from 0% to 100%, such as 20%$/],
    [{ stopAt: '20' }, /^--stop-at "20" is not a share/],
    [{ stopAt: '-5%' }, /^--stop-at /],
    [{ stopAt: '%' }, /^--stop-at /],
  ];
  for (const [options, says] of wrong) {
    it(`refuse ${JSON.stringify(options)}`, () => {
      assert.throws(
        () => settingsOf(options, 'ada'),
        (error) => error instanceof ConfigError && error.code === 'usage' && says.test(error.message),
      );
    });
  }
});

describe('commandOf', () => {
  it('is what could be typed again', () => {
    const words = ['apply', 'a plan.json', '--stop-at', '20%', "it's"];
    const typed = `dogwatch replay apply 'a plan.json' --stop-at 20% 'it'\\''s'`;
    assert.deepEqual([commandOf(['replay', ...words]), commandOf(words)], [typed, typed]);
  });
});
