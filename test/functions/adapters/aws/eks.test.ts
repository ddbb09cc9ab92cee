import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { type Eks, openEks } from '../../../../functions/adapters/aws/eks.ts';
import { openCredentials } from '../../../../functions/adapters/kubernetes/credentials.ts';
import type { EksSource } from '../../../../functions/adapters/kubernetes/kube-config.ts';
import { selfSigned } from '../../../../infra/local/certificates.ts';
import { AwsStub } from '../../../fakes/aws-stub.ts';
import { checkEksToken, type EksTokenAnswer } from '../../../fakes/eks-authenticator.ts';

const MINUTE = 60_000;
const ROLE = 'arn:aws:iam::123456789012:role/dogwatch';
const east: EksSource = { kind: 'eks', cluster: 'east', region: 'eu-west-1' };
const start = Date.parse('2026-11-29T12:00:00Z');

let aws: AwsStub;
const kept = { ...process.env };
before(async () => {
  aws = await AwsStub.start();
  Object.assign(process.env, aws.environment);
});
after(async () => {
  process.env = kept;
  await aws.close();
});

/** What this machine's clock shows; the SDK's reads it too. */
let nowMs = start;
beforeEach(() => {
  nowMs = start;
  aws.nowMs = () => nowMs;
  mock.method(Date, 'now', () => nowMs);
});
afterEach(() => {
  mock.restoreAll();
  aws.reset();
});

const open = (source: EksSource = east): Eks => openEks(source, () => nowMs);

/** What the cluster says to a token. */
function check(token: string | undefined, cluster = 'east'): EksTokenAnswer {
  return checkEksToken(token ?? '', { cluster, region: 'eu-west-1', secretKeys: aws.secretKeys, nowMs: aws.nowMs() });
}

describe('openEks, tokens', () => {
  it('signs one with the credentials of the environment, for the host of the region, without a call', async () => {
    const { token, renewAtMs } = await open().issuer.issue();
    assert.deepEqual(check(token), { accessKeyId: 'OWN', signedAt: new Date(start) });
    assert.deepEqual([renewAtMs, aws.calls.length], [start + 14 * MINUTE, 0]);
  });

  it('signs with the credentials of a role, which is assumed once for many tokens', async () => {
    aws.roles.set(ROLE, 3600);
    const { issuer } = open({ ...east, role: ROLE });
    const first = await issuer.issue();
    assert.deepEqual(check(first.token), { accessKeyId: 'ROLE1', signedAt: new Date(start) });
    assert.match(Buffer.from(String(first.token).slice(11), 'base64url').toString(), /&X-Amz-Security-Token=role-session&/);
    nowMs += 50 * MINUTE;
    await issuer.issue();
    assert.equal(aws.count('AssumeRole'), 1);
    const [call] = aws.calls;
    assert.deepEqual([call?.accessKeyId, call?.input['RoleArn'], call?.input['RoleSessionName']], ['OWN', ROLE, 'dogwatch-east']);
  });

  it('has a token replaced before the credentials that signed it expire, and those five minutes before they do', async () => {
    aws.roles.set(ROLE, 3600);
    const { issuer } = open({ ...east, role: ROLE });
    await issuer.issue();
    nowMs = start + 50 * MINUTE;
    assert.equal((await issuer.issue()).renewAtMs, start + 59 * MINUTE);
    nowMs = start + 55 * MINUTE;
    const { token, renewAtMs } = await issuer.issue();
    assert.deepEqual([check(token), renewAtMs], [{ accessKeyId: 'ROLE2', signedAt: new Date(nowMs) }, nowMs + 14 * MINUTE]);
  });

  it('assumes the role anew where the cluster refused its credentials, unless they are new', async () => {
    aws.roles.set(ROLE, 3600);
    const { issuer } = open({ ...east, role: ROLE });
    await issuer.issue();
    nowMs += MINUTE - 1;
    issuer.refused?.(undefined);
    await issuer.issue();
    assert.equal(aws.count('AssumeRole'), 1);
    nowMs += 1;
    issuer.refused?.(undefined);
    await issuer.issue();
    await issuer.issue();
    assert.equal(aws.count('AssumeRole'), 2);
  });

  it('signs by the clock of whoever refused a token, where ours is wrong', async () => {
    for (const skewMs of [-20 * MINUTE, 40 * MINUTE, 24 * 60 * MINUTE]) {
      aws.nowMs = () => nowMs - skewMs;
      const { issuer } = open();
      assert.ok('refused' in check((await issuer.issue()).token));
      issuer.refused?.(aws.nowMs());
      const { token, renewAtMs } = await issuer.issue();
      assert.deepEqual(check(token), { accessKeyId: 'OWN', signedAt: new Date(aws.nowMs()) });
      assert.equal(renewAtMs, nowMs + 14 * MINUTE, 'by our clock, which is the one that it is compared with');
    }
  });

  it('leaves the clock alone for the seconds that an answer was on its way', async () => {
    const { issuer } = open();
    issuer.refused?.(nowMs - 29_000);
    assert.deepEqual(check((await issuer.issue()).token), { accessKeyId: 'OWN', signedAt: new Date(start) });
  });

  it('learns the time from STS where a role cannot be assumed for it, and signs by it', async () => {
    aws.nowMs = () => nowMs + 60 * MINUTE;
    aws.roles.set(ROLE, 3600);
    const { token, renewAtMs } = await open({ ...east, role: ROLE }).issuer.issue();
    const [first, second] = aws.calls.map(({ signedAt }) => signedAt.getTime());
    assert.deepEqual([aws.calls.length, first, second], [2, nowMs, nowMs + 60 * MINUTE]);
    assert.deepEqual([check(token), renewAtMs], [{ accessKeyId: 'ROLE2', signedAt: new Date(aws.nowMs()) }, nowMs + 14 * MINUTE]);
  });

  it('says which role may not be assumed, in the words of STS', async () => {
    const message = `EKS cluster east in eu-west-1: the role ${ROLE} cannot be assumed: AccessDenied: User is not authorized to perform: sts:AssumeRole on resource: ${ROLE}; grant it`;
    await assert.rejects(open({ ...east, role: ROLE }).issuer.issue(), { name: 'ConfigError', code: 'aws-refused', message });
  });
});

describe('openEks, address and CA', () => {
  it('asks EKS, with the credentials of the role', async () => {
    aws.roles.set(ROLE, 3600);
    aws.clusters.set('east', { endpoint: 'https://east.eks', certificateAuthority: 'Y2E=' });
    const found = await open({ ...east, role: ROLE }).describe();
    assert.deepEqual(found, { server: 'https://east.eks', certificateAuthorityData: 'Y2E=' });
    assert.deepEqual(
      aws.calls.map(({ action, accessKeyId }) => [action, accessKeyId]),
      [
        ['AssumeRole', 'OWN'],
        ['DescribeCluster', 'ROLE1'],
      ],
    );
  });

  it('says that there is no such cluster, or that it is not ready', async () => {
    await assert.rejects(open().describe(), {
      name: 'ConfigError',
      message: /^EKS cluster east in eu-west-1: cannot be described: ResourceNotFoundException: .*; look at name, account and region$/,
    });
    aws.clusters.set('east', 'CREATING');
    await assert.rejects(open().describe(), {
      name: 'ConfigError',
      message: /has no endpoint yet \(status CREATING\); wait until it is ACTIVE/,
    });
  });
});

describe('openCredentials of a cluster of EKS', () => {
  const ca = Buffer.from(selfSigned(['east.eks']).cert).toString('base64');
  const serve = (host: string) => aws.clusters.set('east', { endpoint: `https://${host}`, certificateAuthority: ca });
  const asked = (): number => aws.count('DescribeCluster');

  it('finds one that was made again under its name, whose old address leads nowhere, within half an hour', async () => {
    serve('old.eks');
    const credentials = openCredentials(east, { nowMs: () => nowMs });
    const host = async (): Promise<string> => (await credentials.current()).server.host;
    assert.equal(await host(), 'old.eks');
    serve('new.eks');
    nowMs += 29 * MINUTE;
    assert.deepEqual([await host(), asked()], ['old.eks', 1]);
    nowMs += MINUTE;
    aws.clusters.set('east', 'CREATING');
    assert.deepEqual([await host(), asked()], ['old.eks', 2], 'nothing better is known');
    serve('new.eks');
    nowMs += MINUTE;
    assert.deepEqual([await host(), asked()], ['new.eks', 3]);
  });

  it('asks for none whose address it was given', async () => {
    const credentials = openCredentials(
      { ...east, endpoint: { server: 'https://east.eks', certificateAuthorityData: ca } },
      { nowMs: () => nowMs },
    );
    await credentials.current();
    nowMs += 60 * MINUTE;
    assert.deepEqual([(await credentials.current()).server.host, asked()], ['east.eks', 0]);
  });
});
