import type { Client } from './client.ts';
import { commandLineClients } from './command-line-clients.ts';
import { javaClients } from './java-clients.ts';
import { jsClients } from './js-clients.ts';
import { pythonClients } from './python-clients.ts';

export const clients: readonly Client[] = [...jsClients, ...pythonClients, ...javaClients, ...commandLineClients];
