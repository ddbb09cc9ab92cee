/** Self-signed certificates for servers on loopback, made on the spot: no private key has to be kept anywhere. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface Certificate {
  /** PEM. Also what a client has to trust. */
  readonly cert: string;
  readonly key: string;
}

/** ecdsa-with-SHA256, commonName, subjectAltName. */
const OID = { ecdsaSha256: '06082a8648ce3d040302', commonName: '0603550403', subjectAltName: '0603551d11' };

/** A certificate of its own for these DNS names and IPv4 addresses, valid from 2020 to 2099. */
export function selfSigned(names: readonly string[], commonName = names[0] ?? 'test'): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = der(0x30, hex(OID.ecdsaSha256));
  const name = der(0x30, der(0x31, der(0x30, hex(OID.commonName), der(0x0c, Buffer.from(commonName)))));
  const validity = der(0x30, time('20200101000000Z'), time('20991231235959Z'));
  const alternatives = names.map((entry) =>
    isIP(entry) === 4 ? der(0x87, Buffer.from(entry.split('.').map(Number))) : der(0x82, Buffer.from(entry)),
  );
  const extension = der(0x30, hex(OID.subjectAltName), der(0x04, der(0x30, ...alternatives)));
  const content = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const body = der(0x30, content, algorithm, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${body.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** One DER value: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** GeneralizedTime, which also years from 2050 on have room in. */
function time(text: string): Buffer {
  return der(0x18, Buffer.from(text));
}
