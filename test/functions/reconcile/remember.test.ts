import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rememberSuccess } from '../../../functions/reconcile/remember.ts';

describe('rememberSuccess', () => {
  it('makes the value once, also for calls at the same time', async () => {
    let made = 0;
    const value = rememberSuccess(async () => {
      made += 1;
      return { made };
    });
    const [one, two] = await Promise.all([value(), value()]);
    assert.equal(one, two);
    assert.equal(await value(), one);
    assert.equal(made, 1);
  });

  it('tries again after a failure, thrown at once or later', async () => {
    for (const isLate of [true, false]) {
      let tries = 0;
      const value = rememberSuccess(() => {
        tries += 1;
        if (tries > 1) return tries;
        if (!isLate) throw new Error('first');
        return Promise.reject(new Error('first'));
      });
      await assert.rejects(value(), /first/);
      assert.equal(await value(), 2);
    }
  });
});
