/**
 * What names, label keys and label values may be, in the server's words (apimachinery 0.36, api/validate/content). Each
 * function returns what is wrong.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const KEY_TEXT = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const KEY_EXAMPLES = ['MyName', 'my.name', '123-abc'];
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const SUBDOMAIN_MAX = 253;
const LABEL_MAX = 63;

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);

const mustMatch = (text: string, pattern: string, ...examples: string[]): string =>
  `${text} (e.g. ${examples.map((example) => `'${example}'`).join(', or ')}, regex used for validation is '${pattern}')`;

const tooLong = (text: string, max: number): string[] => (Buffer.byteLength(text) > max ? [`must be no more than ${max} bytes`] : []);

/** A trailing dash is fine where a suffix will follow. */
const masked = (name: string, isPrefix: boolean): string =>
  isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -1)}a` : name;

/** Of a name that is a DNS subdomain, as most names are. `isPrefix`: a suffix will follow. */
export function subdomainFaults(name: string, isPrefix = false): string[] {
  const text = masked(name, isPrefix);
  const faults = tooLong(text, SUBDOMAIN_MAX);
  return whole(SUBDOMAIN).test(text) ? faults : [...faults, mustMatch(SUBDOMAIN_TEXT, SUBDOMAIN, 'example.com')];
}

/** Of a name that is a DNS label, as a namespace's. */
export function labelFaults(name: string, isPrefix = false): string[] {
  const text = masked(name, isPrefix);
  const faults = tooLong(text, LABEL_MAX);
  if (whole(LABEL).test(text)) return faults;
  return [...faults, whole(SUBDOMAIN).test(text) ? 'must not contain dots' : mustMatch(LABEL_TEXT, LABEL, 'my-name', '123-abc')];
}

/** Of a name that only has to fit into a path, as those of roles. */
export function pathSegmentFaults(name: string, isPrefix = false): string[] {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((piece) => name.includes(piece)).map((piece) => `may not contain '${piece}'`);
}

/** Of a label's key, a finalizer's name, or, in lower case, an annotation's key. */
export function qualifiedNameFaults(key: string): string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${mustMatch(KEY_TEXT, KEY, ...KEY_EXAMPLES)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const faults = parts.length === 2 ? prefixFaults(parts[0] ?? '') : [];
  if (name === '') faults.push('name part must be non-empty');
  else faults.push(...tooLong(name, LABEL_MAX).map((fault) => `name part ${fault}`));
  return whole(KEY).test(name) ? faults : [...faults, `name part ${mustMatch(KEY_TEXT, KEY, ...KEY_EXAMPLES)}`];
}

const prefixFaults = (prefix: string): string[] =>
  prefix === '' ? ['prefix part must be non-empty'] : subdomainFaults(prefix).map((fault) => `prefix part ${fault}`);

/** Of a label's value. */
export function labelValueFaults(value: string): string[] {
  const faults = tooLong(value, LABEL_MAX);
  return whole(`(${KEY})?`).test(value) ? faults : [...faults, mustMatch(VALUE_TEXT, `(${KEY})?`, 'MyValue', 'my_value', '12345')];
}
