import express from 'express';
import type { ErrorRequestHandler, Express, Request, Response } from 'express';
import type { StandInCall, Pause } from './call.ts';
import { readBody } from './body.ts';
import { SHELF_BOUNDS } from './shelf.ts';
import type { KeptFile, Shelf } from './shelf.ts';
import type { StandInEvents } from './standIns.ts';

export interface StandInsAppDeps extends Pick<StandInEvents, 'onAnswered'> {
  readonly shelf: Shelf;
  readonly now: () => number;
  /** Most bytes of one file. */
  readonly fileBytes?: number;
  /** The call whose secret it is. */
  readonly callOf: (what: 'token' | 'key' | 'waitKey', secret: string) => StandInCall | undefined;
  readonly urlOf: (call: StandInCall) => string;
  readonly end: (call: StandInCall, pause: Pause | undefined) => Promise<readonly KeptFile[]>;
}

/** Files that are on their way in at the same time: each is held in memory until it is whole. */
const MAX_UPLOADS = 8;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_NAME_CHARACTERS = 1_000;

/** A request that is refused. */
class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * What the stand-ins answer. To handlers as a runtime does (D36–D39); to whoever makes the calls under `/calls`; to
 * whoever answers a pause under `/waits`. Nothing of a path is ever used as a path: it is looked up.
 */
export function standInsApp(deps: StandInsAppDeps): Express {
  const { shelf, now, fileBytes = SHELF_BOUNDS.fileBytes, callOf, urlOf, end, onAnswered } = deps;
  let uploads = 0;

  /** Undefined when it is larger than a file may be. */
  const upload = async (request: Request): Promise<Buffer | undefined> => {
    if (uploads >= MAX_UPLOADS) throw new Refused(503, 'tool-files-busy', 'too many files at once, try again');
    uploads += 1;
    try {
      return await readBody(request, fileBytes);
    } finally {
      uploads -= 1;
    }
  };
  const handlersCall = ({ headers }: Request): StandInCall => {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const call = callOf('token', token);
    if (call?.isOpen(now()) === true) return call;
    throw new Refused(401, 'bad-token', 'no call that is under way has this token');
  };
  const callersCall = ({ params }: Request): StandInCall => {
    const call = callOf('key', String(params.key));
    if (call !== undefined) return call;
    throw new Refused(404, 'unknown-call', 'no call is known by this address');
  };
  const waitingCall = ({ params }: Request): StandInCall => {
    const call = callOf('waitKey', String(params.key));
    if (call?.isWaiting(now()) === true) return call;
    throw new Refused(404, 'unknown-wait', 'nothing waits at this address');
  };

  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  app.use((_request, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    next();
  });

  app.post('/files', async (request, response) => {
    const call = handlersCall(request);
    const [name, type] = [nameOf(request), typeOf(request)];
    const bytes = await upload(request);
    if (bytes === undefined) return void response.json({ notStored: 'size' });
    // It may have ended while its bytes were on their way.
    handlersCall(request);
    const stored = await call.store(name, type, bytes);
    response.json(typeof stored === 'string' ? { notStored: stored } : { file: factsOf(stored) });
  });
  app.get('/files/:id', async (request, response) => {
    const file = handlersCall(request).readable(String(request.params.id));
    const bytes = file && (await shelf.read(file));
    if (bytes === undefined) return void response.json({ notRead: 'gone' });
    response.type('application/octet-stream').send(bytes);
  });

  app.put('/calls/:key/files/:name', async (request, response) => {
    const call = callersCall(request);
    const name = String(request.params.name);
    if (['.', '..'].includes(name)) throw new Refused(400, 'bad-name', 'no file can be read by that name');
    if (!call.isOpen(now())) throw new Refused(409, 'call-over', 'the call is over');
    const bytes = await upload(request);
    if (bytes === undefined) throw new Refused(413, 'size', `a file has ${fileBytes} bytes at most`);
    if (!(await call.give(name, typeOf(request), bytes))) throw new Refused(507, 'storage', 'there is no room for it');
    response.json({ name, size: bytes.length });
  });
  app.get('/calls/:key/files/:id', async (request, response) => {
    const files = await callersCall(request).stored();
    const file = files.find(({ id }) => id === request.params.id);
    const bytes = file && (await shelf.read(file));
    if (bytes === undefined) throw new Refused(404, 'gone', 'the file is not kept any more');
    // Whatever a handler says it is, a browser saves it and runs nothing of it.
    response.set('content-disposition', 'attachment').type('application/octet-stream').send(bytes);
  });
  app.post('/calls/:key/over', async (request, response) => {
    const call = callersCall(request);
    const files = await end(call, pauseOf(await jsonOf(request)));
    response.json({ files: files.map((file) => ({ ...factsOf(file), url: `${urlOf(call)}/files/${file.id}` })) });
  });

  app.get('/waits/:key', (request, response) => {
    const { toolId, pause } = waitingCall(request);
    const what = pause?.name === undefined ? '' : ` for "${pause.name}"`;
    const how = 'POST its output as JSON to this address. "packgate dev" shows it; no run goes on, as there is none.';
    response.type('text/plain').send(`${toolId} waits${what}.\n${how}\n`);
  });
  app.post('/waits/:key', async (request, response) => {
    const call = waitingCall(request);
    const output = await jsonOf(request);
    if (output === undefined) throw new Refused(400, 'no-json', 'the output is posted as JSON');
    if (!call.answer()) throw new Refused(409, 'answered', 'it was answered before');
    onAnswered(call, output);
    response.json({ taken: true });
  });

  app.use(() => {
    throw new Refused(404, 'not-found', 'no such path, or not with this method');
  });
  app.use(answerError);
  return app;
}

// Private

/** Express knows a handler of errors by its four parameters. */
const answerError: ErrorRequestHandler = (cause, request, response: Response, _next) => {
  if (response.headersSent) return void response.destroy();
  const status = cause instanceof Refused ? cause.status : statusOf(cause);
  const [code, error] =
    cause instanceof Refused ? [cause.code, cause.message] : ['failed', 'the request cannot be answered'];
  // What is still coming is taken and thrown away: a connection that closes on it would take the answer along.
  request.resume();
  response.status(status).json({ error, code });
};

/** Express throws for a path that it cannot decode. */
function statusOf(cause: unknown): number {
  const status = typeof cause === 'object' && cause !== null && 'status' in cause ? cause.status : undefined;
  return status === 400 ? 400 : 500;
}

function factsOf({ id, name, type, size }: KeptFile): object {
  return { id, name, type, size };
}

/** The name of a file that is stored: any text, percent-encoded (D36). */
function nameOf({ headers }: Request): string {
  const written = headers['kindgi-file-name'];
  try {
    const name = typeof written === 'string' ? decodeURIComponent(written) : '';
    if (name !== '' && name.length <= MAX_NAME_CHARACTERS) return name;
  } catch {
    // It is no percent-encoded text.
  }
  throw new Refused(400, 'bad-name', 'Kindgi-File-Name must be the name of the file, percent-encoded');
}

function typeOf({ headers }: Request): string {
  const type = headers['content-type'];
  if (type !== undefined && type !== '') return type;
  throw new Refused(400, 'bad-type', 'Content-Type must be the type of the file');
}

/** Undefined where it is none. */
async function jsonOf(request: Request): Promise<unknown> {
  const body = await readBody(request, MAX_OUTPUT_BYTES);
  if (body === undefined) throw new Refused(413, 'too-large', `${MAX_OUTPUT_BYTES} bytes at most are taken`);
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** What the caller tells of a pause: what the pack answered, of which nothing is taken on trust. */
function pauseOf(told: unknown): Pause | undefined {
  const pause = typeof told === 'object' && told !== null && 'pause' in told ? told.pause : undefined;
  if (typeof pause !== 'object' || pause === null) return undefined;
  const { name, timeoutMs } = pause as Readonly<Record<string, unknown>>;
  return { ...(typeof name === 'string' && { name }), ...(typeof timeoutMs === 'number' && { timeoutMs }) };
}
