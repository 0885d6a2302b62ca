/** Standard VAT rates in percent. */
const RATES: Readonly<Record<string, number>> = { AT: 20, DE: 19, ES: 21, FR: 20, IT: 22, NL: 21 };

export const COUNTRIES = Object.keys(RATES);

/** VAT on a net amount, rounded to whole cents. */
export function vatCents(netCents: number, country: string): number {
  return Math.round((netCents * (RATES[country] ?? 0)) / 100);
}
