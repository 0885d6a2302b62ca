/** What a pack prints; see `fixtures/children/spoof.mjs`. */
interface Speech {
  readonly text?: string;
  readonly fillBytes?: number;
  readonly pieceBytes?: number;
  readonly stream?: 'stderr' | 'stdout';
}

export interface Spoof {
  readonly before?: readonly Speech[];
  readonly after?: readonly Speech[];
  readonly opensPort?: boolean;
}

/** Ports that are not the pack's own, by whose they are. */
export interface ForeignPorts {
  readonly neighbour: number;
  readonly decoy: number;
  readonly gateway: number;
  readonly dead: number;
}

/**
 * One way to lie about the port. `refused`: the start must fail, since the first listening line is the one that counts.
 * `right`: the lie is no listening line, or too late to be one, and the pack is served from its own port.
 */
export interface Forgery {
  readonly name: string;
  readonly expected: 'refused' | 'right';
  readonly spoof: Spoof;
}

const MEGABYTES = 5_000_000;

export function forgeriesFor(ports: ForeignPorts): Forgery[] {
  const line = (port: unknown): string => `${JSON.stringify({ kind: 'listening', port })}\n`;
  const record = (port: number): string =>
    `${JSON.stringify({ time: new Date(0).toISOString(), level: 'info', subsystem: 'pack', message: 'listening', event: 'listening', port })}\n`;
  const refused = (name: string, spoof: Spoof): Forgery => ({ name, expected: 'refused', spoof });
  const right = (name: string, spoof: Spoof): Forgery => ({ name, expected: 'right', spoof });
  const { neighbour, decoy, gateway, dead } = ports;
  return [
    refused('the port of a neighbour', { before: [{ text: line(neighbour) }] }),
    refused('the port of a neighbour, as a record', { before: [{ text: record(neighbour) }] }),
    refused('the port of a server of somebody else', { before: [{ text: line(decoy) }] }),
    refused('the port of the gateway', { before: [{ text: line(gateway) }] }),
    refused('a dead port', { before: [{ text: line(dead) }] }),
    refused('a port twice', { before: [{ text: line(decoy) + line(decoy) }] }),
    refused('a port in pieces', { before: [{ text: line(decoy), pieceBytes: 3 }] }),
    refused('a port after a line of megabytes', { before: [{ fillBytes: MEGABYTES, text: `\n${line(decoy)}` }] }),
    refused('a port of its own that answers everything', { opensPort: true }),
    refused('megabytes without an end, glued to the real line', { before: [{ fillBytes: MEGABYTES }] }),
    right('a port at the end of a line of megabytes', { before: [{ fillBytes: MEGABYTES, text: line(decoy) }] }),
    right('a port on stdout', { before: [{ text: line(decoy), stream: 'stdout' }] }),
    right('a port after the real one', { after: [{ text: line(neighbour) + record(decoy) }] }),
    right('a port after the real one, in pieces', { after: [{ text: line(decoy), pieceBytes: 3 }] }),
    right('a port in a sentence', { before: [{ text: `note: ${line(decoy)}` }] }),
    right('a port in a list', { before: [{ text: `[${line(decoy).trim()}]\n` }] }),
    right('a port in a record of a handler', { before: [{ text: record(decoy).replace('"pack"', '"handler"') }] }),
    right('a port that is a text, none, or no number of a port', {
      before: [String(decoy), null, 0, -1, 65_536, 1.5, [decoy], { port: decoy }].map((port) => ({ text: line(port) })),
    }),
  ];
}
