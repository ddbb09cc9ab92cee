/** A refused request, as the Status object that tells of it. */
import type { JsonObject } from './api-object.ts';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural in most Status objects, the Kind in validation and delete preconditions. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

interface FaultFields {
  /** Left out where the real server gives none, as for a 500. */
  readonly reason?: string;
  readonly details?: StatusDetails;
  /** metadata.continue of the Status. */
  readonly continueToken?: string;
  /** Sends the Retry-After header. */
  readonly retryAfterSeconds?: number;
}

/** Thrown anywhere below the HTTP layer: the answer is a Status with `code`. `message` is the real server's text. */
export class ApiFault extends Error {
  readonly code: number;
  readonly fields: FaultFields;

  constructor(code: number, message: string, fields: FaultFields = {}) {
    super(message);
    this.name = 'ApiFault';
    this.code = code;
    this.fields = fields;
  }

  /** The Status object. */
  toStatus(): JsonObject {
    const { reason, details, continueToken } = this.fields;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: 'Failure',
      message: this.message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code: this.code,
    };
  }
}

export const badRequest = (message: string): ApiFault => new ApiFault(400, message, { reason: 'BadRequest' });

/** 501: outside of what the embedded server does. `what` begins the sentence, `instead` ends it. */
export const notHere = (what: string, instead = 'use a real one for it'): ApiFault =>
  new ApiFault(501, `${what} is not part of the embedded API server; ${instead}`, { reason: 'NotImplemented' });
