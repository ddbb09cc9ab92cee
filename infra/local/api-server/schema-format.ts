/** The string formats that the API server checks in custom resources. Any other format is no check at all. */

const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt](\d\d):(\d\d):(\d\d)([.,]\d+)?([Zz]|[+-]\d\d:?\d\d)$/;
const GO_DURATION = /^[-+]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/;
/** One label with at most one hyphen, after its first character, or several of which the last is of letters only. */
const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|([a-zA-Z0-9\p{S}\p{L}]([-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

const uuid = (version: string, variant: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i');

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  byte: (text) => text !== '' && /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  cidr: isCidr,
  date: (text) => DATE.test(text) && isDay(text),
  datetime: isDateTime,
  duration: (text) =>
    text === '0' ||
    GO_DURATION.test(text) ||
    /^\d+(\.\d+)?\s*(ns|nanos?(econds?)?|us|micros?(econds?)?|ms|millis?(econds?)?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/.test(
      text,
    ),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: (text) => IPV4.test(text),
  ipv6: (text) => isIpv6(text),
  mac: (text) => /^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/.test(text),
  password: () => true,
  uri: (text) => /^[a-zA-Z][a-zA-Z0-9+.-]*:\S+$/.test(text) || /^\/\S*$/.test(text),
  uuid: (text) => uuid('[0-9a-f]', '[0-9a-f]').test(text),
  uuid3: (text) => uuid('3', '[0-9a-f]').test(text),
  uuid4: (text) => uuid('4', '[89ab]').test(text),
  uuid5: (text) => uuid('5', '[89ab]').test(text),
};

/** True for a format that is checked; hyphens in its name do not count. */
export const isKnownFormat = (format: string): boolean => Object.hasOwn(FORMATS, format.replaceAll('-', ''));

/** False if the text breaks a format that is checked. */
export function fitsFormat(format: string, text: string): boolean {
  return !isKnownFormat(format) || FORMATS[format.replaceAll('-', '')]?.(text) === true;
}

function isDay(text: string): boolean {
  return new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8, 10));
}

function isDateTime(text: string): boolean {
  const parts = DATE_TIME.exec(text);
  if (parts === null || !isDay(text.slice(0, 10))) return false;
  return Number(parts[1]) < 24 && Number(parts[2]) < 60 && Number(parts[3]) < 60;
}

function isIpv6(text: string): boolean {
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(':')) return false;
  return URL.canParse(`http://[${text}]`);
}

function isCidr(text: string): boolean {
  const [address, bits, ...rest] = text.split('/');
  if (address === undefined || bits === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (IPV4.test(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}
