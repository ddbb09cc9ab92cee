/**
 * What a cluster of EKS and STS do together with a token: the cluster takes the presigned call apart and makes it, with its own name
 * as the header; STS computes the signature again. Written from the description of Signature Version 4, with no code of the SDK.
 */
import { createHash, createHmac } from 'node:crypto';
import { dateOf } from './aws-stub.ts';

export interface EksTokenCheck {
  /** The name of the cluster that asks. */
  readonly cluster: string;
  readonly region: string;
  /** Secret keys by access key. */
  readonly secretKeys: ReadonlyMap<string, string>;
  /** What STS's clock shows. */
  readonly nowMs: number;
}

/** Who signed the token, by the access key; or why the token is not taken. */
export type EksTokenAnswer = { readonly accessKeyId: string; readonly signedAt: Date } | { readonly refused: string };

const LIFETIME_MS = 15 * 60_000;
const FUTURE_MS = 5 * 60_000;
/** Longer ones aws-iam-authenticator does not look at. */
const TOKEN_MAX_BYTES = 16_384;
const ALLOWED = /^(action|version|x-amz-(algorithm|credential|date|expires|security-token|signature|signedheaders))$/i;

export function checkEksToken(token: string, { cluster, region, secretKeys, nowMs }: EksTokenCheck): EksTokenAnswer {
  if (token.length > TOKEN_MAX_BYTES || !/^k8s-aws-v1\.[\w-]+$/.test(token)) return { refused: 'not a token' };
  const url = URL.parse(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString());
  if (url === null || url.protocol !== 'https:' || url.pathname !== '/') return { refused: 'not an https address' };
  if (url.hostname !== `sts.${region}.amazonaws.com`) return { refused: `unexpected host ${url.hostname}` };
  const query = Object.fromEntries(url.searchParams);
  if (Object.keys(query).some((name) => !ALLOWED.test(name))) return { refused: 'unknown parameter' };
  if (query['Action'] !== 'GetCallerIdentity') return { refused: 'another action' };
  const {
    'X-Amz-Credential': credential = '',
    'X-Amz-Date': date = '',
    'X-Amz-Expires': expires,
    'X-Amz-SignedHeaders': signed = '',
  } = query;
  if (!signed.split(';').includes('x-k8s-aws-id')) return { refused: 'the header with the cluster is not signed' };
  if (!(Number(expires) > 0 && Number(expires) <= 60)) return { refused: 'expires in over 60 s, which old authenticators refuse' };
  const signedAt = dateOf(date);
  const ageMs = nowMs - signedAt.getTime();
  if (!(ageMs < LIFETIME_MS)) return { refused: 'expired' };
  if (ageMs < -FUTURE_MS) return { refused: 'not yet valid' };
  const [accessKeyId = '', ...scope] = credential.split('/');
  const secret = secretKeys.get(accessKeyId);
  if (secret === undefined) return { refused: 'unknown access key' };
  const canonical = ['GET', '/', canonicalQuery(url), `host:${url.hostname}`, `x-k8s-aws-id:${cluster}`, '', signed, sha256('')].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>((above, part) => createHmac('sha256', above).update(part).digest(), `AWS4${secret}`);
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return signature === query['X-Amz-Signature'] ? { accessKeyId, signedAt } : { refused: 'another signature: not for this cluster' };
}

function canonicalQuery({ search }: URL): string {
  const pairs = search.slice(1).split('&');
  return pairs
    .filter((pair) => !pair.startsWith('X-Amz-Signature='))
    .sort()
    .join('&');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
