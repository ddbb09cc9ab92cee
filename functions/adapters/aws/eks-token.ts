/**
 * Bearer tokens of EKS: a presigned call of `sts:GetCallerIdentity`, which the cluster makes to learn who signed it. Made here
 * without any call. Facts from aws-iam-authenticator (pkg/token/token.go) and from `aws eks get-token`, which make the same bytes.
 */
import type { SignatureV4 } from '@smithy/signature-v4';

/** Ties the token to one cluster; signed, so that a cluster cannot pass it on to another. */
const CLUSTER_HEADER = 'x-k8s-aws-id';
const TOKEN_PREFIX = 'k8s-aws-v1.';
/** STS takes no notice of X-Amz-Expires; old authenticators refuse more than this. Seconds. */
const PRESIGN_SECONDS = 60;
/** How long STS, and so the cluster, takes the token from its X-Amz-Date on. */
export const TOKEN_LIFETIME_MS = 15 * 60_000;

/** Parameters before and behind the signature's own, in the order in which the AWS CLI writes them: equal tokens are equal bytes. */
const PARAMETERS = [
  'Action',
  'Version',
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Security-Token',
  'X-Amz-Signature',
];

export interface TokenRequest {
  /** Of STS in the cluster's region. Clusters refuse any that is not of AWS, so a private endpoint's is not meant. */
  readonly hostname: string;
  /** Name of the cluster; id of a local one on an Outpost. */
  readonly cluster: string;
  readonly signedAt: Date;
}

/** A token signed by `signer`, which has credentials and region. The cluster accepts it for {@link TOKEN_LIFETIME_MS} from `signedAt`. */
export async function signEksToken(signer: Pick<SignatureV4, 'presign'>, { hostname, cluster, signedAt }: TokenRequest): Promise<string> {
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, [CLUSTER_HEADER]: cluster },
    },
    { expiresIn: PRESIGN_SECONDS, signingDate: signedAt },
  );
  const { query = {} } = signed;
  const pairs = PARAMETERS.filter((name) => query[name] !== undefined).map((name) => `${name}=${encodeURIComponent(String(query[name]))}`);
  return TOKEN_PREFIX + Buffer.from(`https://${hostname}/?${pairs.join('&')}`).toString('base64url');
}
