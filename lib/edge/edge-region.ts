/** Where CloudFront has its firewall, its certificate, its log and its metrics, wherever the gateway stands. */
export const EDGE_REGION = 'us-east-1';
