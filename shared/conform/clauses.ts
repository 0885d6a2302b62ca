import type { Clause } from './clause.ts';
import { answers } from './clauses/answers.ts';
import { boot } from './clauses/boot.ts';
import { bootOrder } from './clauses/bootOrder.ts';
import { cancellation } from './clauses/cancellation.ts';
import { crashes } from './clauses/crashes.ts';
import { checks } from './clauses/checks.ts';
import { configuration } from './clauses/configuration.ts';
import { connectionTokens } from './clauses/connectionTokens.ts';
import { connections } from './clauses/connections.ts';
import { content } from './clauses/content.ts';
import { context } from './clauses/context.ts';
import { deadline } from './clauses/deadline.ts';
import { drain } from './clauses/drain.ts';
import { envelope } from './clauses/envelope.ts';
import { files } from './clauses/files.ts';
import { environment } from './clauses/environment.ts';
import { framing } from './clauses/framing.ts';
import { headers } from './clauses/headers.ts';
import { info } from './clauses/info.ts';
import { issues } from './clauses/issues.ts';
import { pauses } from './clauses/pauses.ts';
import { pin } from './clauses/pin.ts';
import { records } from './clauses/records.ts';
import { routes } from './clauses/routes.ts';
import { tenant } from './clauses/tenant.ts';
import { tools } from './clauses/tools.ts';

/** What a pack service has to do, seen from outside: every clause, in the order of protocol.md's groups. */
export const CLAUSES: readonly Clause[] = [
  ...routes,
  ...answers,
  ...headers,
  ...content,
  ...framing,
  ...deadline,
  ...cancellation,
  ...connections,
  ...tenant,
  ...pin,
  ...configuration,
  ...boot,
  ...bootOrder,
  ...environment,
  ...records,
  ...drain,
  ...crashes,
  ...envelope,
  ...tools,
  ...issues,
  ...checks,
  ...info,
  ...context,
  ...files,
  ...pauses,
  ...connectionTokens,
];
