import { COUNTRIES, vatCents } from '../lib/vat.ts';

interface Line {
  item: string;
  quantity: number;
  unitCents: number;
}

/** Adds up an invoice. */
export default {
  id: 'billing.invoice',
  version: '1.0.0',
  description: 'Adds up the lines of an invoice and the VAT of a country.',
  input: {
    type: 'object',
    required: ['lines', 'country'],
    additionalProperties: false,
    properties: {
      country: { type: 'string', enum: COUNTRIES },
      lines: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['item', 'unitCents'],
          properties: {
            item: { type: 'string' },
            quantity: { type: 'integer', minimum: 1, default: 1 },
            unitCents: { type: 'integer', minimum: 0 },
          },
        },
      },
    },
  },
  output: {
    type: 'object',
    required: ['netCents', 'vatCents', 'totalCents'],
    properties: {
      netCents: { type: 'integer' },
      vatCents: { type: 'integer' },
      totalCents: { type: 'integer' },
    },
  },
  handler({ lines, country }: { lines: Line[]; country: string }) {
    const netCents = lines.reduce((sum, { quantity, unitCents }) => sum + quantity * unitCents, 0);
    const vat = vatCents(netCents, country);
    return { netCents, vatCents: vat, totalCents: netCents + vat };
  },
};
