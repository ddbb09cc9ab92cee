/** What `dogwatch doctor` asks of a cluster, besides the port's calls: by the same way and as the same user as the processes. */
import { awsCodeOf, isDenied } from '../../core/aws-errors.ts';
import type { ServedResource, ServerFacts } from '../../core/doctor/facts.ts';
import { type Asked, isAbsentInAws, type Untold } from '../../core/doctor/finding.ts';
import { ConfigError, cutText, DogwatchError, oneLine, TransientError } from '../../core/errors.ts';
import { isJsonObject, objectAt } from '../../core/plain-json.ts';
import type { Right } from '../../core/rights.ts';
import type { ClusterEntry } from '../clusters.ts';
import type { ReadRemoteText } from '../remote-text.ts';
import { openCredentials } from './credentials.ts';
import { errorOf, isAbsent } from './errors.ts';
import { JSON_TYPE } from './paths.ts';
import { type Answer, createTransport, type Timeouts } from './transport.ts';

export interface ProbeOptions {
  /** Ends every call; what was not answered by then is `timeout`. */
  readonly signal: AbortSignal;
  readonly timeouts?: Partial<Timeouts>;
  readonly nowMs?: () => number;
  readonly readText?: ReadRemoteText;
}

/** No call throws: what went wrong is an answer, with a code that functions/core/doctor/cluster-checks.ts knows. */
export interface ClusterProbe {
  server(): Promise<Asked<ServerFacts>>;
  /** Who we are there. `anonymous` where it lets us in as nobody. */
  user(): Promise<Asked<string>>;
  isAllowed(right: Right): Promise<Asked<boolean>>;
  /** What is served in a `group/version`; undefined: nothing. */
  served(groupVersion: string): Promise<Asked<readonly ServedResource[] | undefined>>;
  /** The CRD of that name; undefined: there is none. */
  definition(name: string): Promise<Asked<unknown>>;
  close(): void;
}

type Json = Readonly<Record<string, unknown>>;

/** Sends nothing; a kubeconfig that cannot be used is told by each call. */
export function openProbe(entry: ClusterEntry, { signal, timeouts, nowMs = Date.now, readText }: ProbeOptions): ClusterProbe {
  const credentials = openCredentials(entry.access, { nowMs, readText, isDeferred: true });
  const transport = createTransport({ credentials, timeouts, userAgent: 'dogwatch-doctor', nowMs });

  async function asked<Value>(call: () => Promise<Value>): Promise<Asked<Value>> {
    try {
      return { kind: 'told', value: await call() };
    } catch (error) {
      return signal.aborted && error === signal.reason ? untold('timeout', 'it took longer than a check may') : faultOf(error);
    }
  }

  const get = (path: string): Promise<Answer> => transport.send({ method: 'GET', path, accept: JSON_TYPE, signal });
  const ask = async (path: string, body: Json): Promise<Answer> => {
    const answer = await transport.send({ method: 'POST', path, accept: JSON_TYPE, body: JSON.stringify(body), signal });
    return checked(answer, 'create', String(body['kind']));
  };
  const checked = (answer: Answer, verb: 'get' | 'create', kind: string): Answer => {
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw errorOf(answer, { verb, type: { kind, plural: kind.toLowerCase() } }, nowMs());
  };

  return {
    server: () =>
      asked(async () => {
        const sentMs = nowMs();
        const answer = checked(await get('/version'), 'get', 'version');
        const serverMs = Date.parse(answer.headers.date ?? '');
        // The answer's Date is cut to whole seconds: its middle lies half a second on.
        const skewSeconds = Number.isNaN(serverMs) ? undefined : (serverMs + 500 - (sentMs + nowMs()) / 2) / 1000;
        return { version: cutText(String(jsonOf(answer)['gitVersion']), 64), skewSeconds };
      }),

    user: () =>
      asked(async () => {
        const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
        const answer = jsonOf(await ask('/apis/authentication.k8s.io/v1/selfsubjectreviews', review));
        const name = String(objectAt(answer, 'status', 'userInfo')['username']);
        if (name === 'system:anonymous') throw new TransientError('anonymous', 'it lets us in as system:anonymous, without credentials');
        return name;
      }),

    isAllowed: ({ verb, group, resource: path, name }) =>
      asked(async () => {
        const [resource, subresource] = path.split('/');
        const resourceAttributes = { verb, group, resource, subresource, name };
        const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
        const answer = jsonOf(await ask('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review));
        return objectAt(answer, 'status')['allowed'] === true;
      }),

    served: (groupVersion) =>
      asked(async () => {
        const answer = await get(`/${groupVersion.includes('/') ? 'apis' : 'api'}/${groupVersion}`);
        if (answer.status === 404) return undefined;
        const resources = jsonOf(checked(answer, 'get', 'APIResourceList'))['resources'];
        const entries = Array.isArray(resources) ? resources.filter(isJsonObject) : [];
        return entries.map(({ name, kind, namespaced }) => ({ name: String(name), kind: String(kind), isNamespaced: namespaced === true }));
      }),

    definition: (name) =>
      asked(async () => {
        const answer = await get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${encodeURIComponent(name)}`);
        return isAbsent(answer) ? undefined : jsonOf(checked(answer, 'get', 'CustomResourceDefinition'));
      }),

    close: () => transport.close(),
  };
}

function untold(code: string, says: string, by?: 'aws'): Untold {
  // Foreign words are in it: OpenSSL's end in a newline, a webhook's have as many as it likes.
  return { kind: 'untold', code, says: oneLine(says).trim(), ...(by === undefined ? {} : { by }) };
}

/** What went wrong, as a code and a sentence; where AWS was asked for the way there, AWS's. */
function faultOf(error: unknown): Untold {
  if (error instanceof ConfigError) return sourceFault(error);
  // Told as well: nobody is helped by a stack at night, and the other checks go on.
  if (!(error instanceof DogwatchError)) return untold('unclassified', messageOf(error) || 'no message');
  const { code, message, facts, cause } = error;
  // The socket's own words name the host; of several addresses that all refused, Node has none.
  if (code === 'unreachable') return untold(String(facts['errorCode']), messageOf(cause) || String(facts['errorCode']));
  if (code === 'timeout') return untold(facts['limitMs'] === undefined ? 'connect-timeout' : code, message);
  if (code !== 'unauthorized') return untold(code, textOf(message, facts['serverMessage']));
  // Without a cause it was the server who refused us.
  if (cause instanceof ConfigError) return sourceFault(cause);
  const isOurs = cause !== undefined || 'command' in facts || 'path' in facts;
  return untold(isOurs ? 'credentials' : code, textOf(message, facts['detail'] ?? facts['command'] ?? facts['path']));
}

function sourceFault({ code, message, facts, cause }: ConfigError): Untold {
  if (code === 'not-in-cluster') return untold(code, message);
  if (code === 'entry-invalid') return untold('entry', message);
  if (code === 'aws-variable') return untold(code, message, 'aws');
  if (code !== 'aws-refused') return untold(/^(kubeconfig|file|source|no-exec)/.test(code) ? 'kubeconfig' : 'credentials', message);
  const word = awsCodeOf(cause);
  if (isAbsentInAws(word)) return untold('cluster-absent', message);
  return facts['role'] !== undefined && /AccessDenied/.test(word) && isDenied(word)
    ? untold('role-refused', message)
    : untold(word, message, 'aws');
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cutText(cause.message) : '';
}

function textOf(message: string, detail: unknown): string {
  return detail === undefined || detail === '' ? message : `${message}: ${cutText(String(detail))}`;
}

function jsonOf({ text }: Answer): Json {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below, as any other text that is no answer of an API server.
  }
  throw new TransientError('bad-response', 'the answer is not what the API server sends; look for a proxy on the way');
}
