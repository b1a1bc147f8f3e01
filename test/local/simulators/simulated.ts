import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, vi } from 'vitest';
import { startSimulator } from '../../../local/simulators/server.ts';

/**
 * Starts a simulator for the tests of one file, with the providers' SDKs as its clients. Call it at the top of the
 * file.
 */
export const startSimulated = async () => {
  const simulator = await startSimulator();
  afterEach(() => {
    simulator.reset();
    vi.useRealTimers();
  });
  afterAll(() => simulator.stop());
  const { url } = simulator;
  return {
    simulator,
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-test', maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey: 'sk-ant-test', maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: url, apiVersion: 'v1beta' } }),
  };
};

/** Returns the received text, and whether the connection ended properly. */
export const readToEnd = async (response: Response) => {
  const decoder = new TextDecoder();
  let text = '';
  let whole = true;
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  } catch {
    whole = false;
  }
  return { text, whole };
};
