import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitsOf } from '../../../../../infra/local/dev/demo/wait.ts';

const running = new AbortController().signal;

describe('a wait of the story', () => {
  it('ends with what is found, as soon as it is there', async () => {
    let looks = 0;
    const look = () => {
      looks += 1;
      return looks === 3 ? 'harbor' : undefined;
    };
    assert.equal(await waitsOf(30, running)('Tenant/harbor in east', look), 'harbor');
    assert.equal(looks, 3);
  });

  it('fails after its bound, and says for what it waited and what there is instead', async () => {
    const wait = waitsOf(0.1, running);
    await assert.rejects(
      wait(
        'Tenant/harbor in east to be Ready',
        () => undefined,
        () => 'it does not exist',
      ),
      { name: 'StepFailure', message: 'waited 0.1 s for Tenant/harbor in east to be Ready; it does not exist' },
    );
  });

  it('fails with what the look throws', async () => {
    const refused = new Error('refused');
    await assert.rejects(
      waitsOf(30, running)('anything', () => {
        throw refused;
      }),
      refused,
    );
  });

  it('ends with the signal, in the middle of a pause too', async () => {
    const stopping = new AbortController();
    const reason = new Error('the run ends');
    const wait = waitsOf(30, stopping.signal)('anything', () => {
      setImmediate(() => stopping.abort(reason));
      return undefined;
    });
    await assert.rejects(wait, reason);
  });
});
