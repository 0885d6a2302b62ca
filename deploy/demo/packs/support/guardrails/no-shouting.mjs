/** A reply to a customer must not shout. */
export default {
  id: 'support.no-shouting',
  kind: 'output',
  action: { 'on-violation': 'block' },
  check: 'support.no-shouting',
  configSchema: {
    type: 'object',
    additionalProperties: false,
    properties: { maxCapitalsPercent: { type: 'integer', minimum: 0, maximum: 100 } },
  },
  evaluate({ maxCapitalsPercent = 50 }, trace) {
    const letters = JSON.stringify(trace?.output ?? '').match(/\p{L}/gu) ?? [];
    const capitals = letters.filter((char) => char !== char.toLowerCase()).length;
    const percent = letters.length === 0 ? 0 : Math.round((100 * capitals) / letters.length);
    return percent <= maxCapitalsPercent
      ? { passed: true }
      : { passed: false, reason: `${percent} % of the letters are capitals, ${maxCapitalsPercent} % are allowed` };
  },
};
