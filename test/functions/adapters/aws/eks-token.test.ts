import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { STSClient } from '@aws-sdk/client-sts';
import { SignatureV4 } from '@smithy/signature-v4';
import { signEksToken } from '../../../../functions/adapters/aws/eks-token.ts';
import { checkEksToken } from '../../../fakes/eks-authenticator.ts';

interface Vector {
  readonly name: string;
  readonly region: string;
  readonly cluster: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
  readonly signedAt: string;
  readonly token: string;
}

const { vectors } = JSON.parse(readFileSync(new URL('eks-token-vectors.json', import.meta.url), 'utf8')) as { vectors: Vector[] };
const { sha256 } = new STSClient({ region: 'eu-west-1' }).config;

function sign({ region, cluster, accessKeyId, secretAccessKey, sessionToken, signedAt }: Vector): Promise<string> {
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
  const signer = new SignatureV4({ service: 'sts', region, sha256, credentials });
  const hostname = `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return signEksToken(signer, { hostname, cluster, signedAt: new Date(signedAt) });
}

describe('signEksToken', () => {
  for (const vector of vectors) {
    it(`makes the bytes that botocore makes: ${vector.name}`, async () => {
      assert.equal(await sign(vector), vector.token);
    });
  }

  it('is for one cluster, and for a quarter of an hour', async () => {
    const vector = { ...(vectors[0] as Vector), signedAt: '2026-11-29T12:00:00Z' };
    const { region, cluster, accessKeyId, secretAccessKey } = vector;
    const token = await sign(vector);
    const signedMs = Date.parse(vector.signedAt);
    const check = { cluster, region, secretKeys: new Map([[accessKeyId, secretAccessKey]]), nowMs: signedMs };
    const answer = { accessKeyId, signedAt: new Date(signedMs) };
    assert.deepEqual(checkEksToken(token, check), answer);
    assert.deepEqual(checkEksToken(token, { ...check, nowMs: signedMs + 15 * 60_000 - 1 }), answer);
    assert.deepEqual(checkEksToken(token, { ...check, nowMs: signedMs + 15 * 60_000 }), { refused: 'expired' });
    assert.deepEqual(checkEksToken(token, { ...check, cluster: 'west' }), { refused: 'another signature: not for this cluster' });
  });
});
