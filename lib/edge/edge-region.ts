/** Region of CloudFront's firewall, certificate, log and metrics, in every environment. */
export const EDGE_REGION = 'us-east-1';
