{
  "Comment": "Polls, stores and charges one video. Its input is only the video's id, because the history of an execution keeps all data. No step starts work at a provider. While workers are paused for maintenance, each step is repeated every minute.",
  "QueryLanguage": "JSONPath",
  "StartAt": "FirstWait",
  "TimeoutSeconds": ${HoldSeconds},
  "States": {
    "FirstWait": { "Type": "Wait", "Seconds": ${FirstWaitSeconds}, "Next": "Poll" },
    "Poll": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "poll", "videoId.$": "$.videoId" },
      "ResultPath": "$.poll",
      "TimeoutSeconds": 60,
      "Retry": [
        {
          "ErrorEquals": ["MaintenancePaused"],
          "IntervalSeconds": 60,
          "BackoffRate": 1,
          "MaxAttempts": 99999999
        },
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Pause" }],
      "Next": "Choose"
    },
    "Choose": {
      "Comment": "Checks the age of a video only before it waits again, so that a video that is ready late is still delivered.",
      "Type": "Choice",
      "Choices": [
        { "Variable": "$.poll.outcome", "StringEquals": "succeeded", "Next": "Store" },
        { "Variable": "$.poll.outcome", "StringEquals": "failed", "Next": "Release" },
        { "Variable": "$.poll.outcome", "StringEquals": "ended", "Next": "Done" },
        { "Variable": "$.poll.elapsedSeconds", "NumericGreaterThanEquals": ${LimitSeconds}, "Next": "Release" }
      ],
      "Default": "Wait"
    },
    "Wait": { "Type": "Wait", "SecondsPath": "$.poll.waitSeconds", "Next": "Poll" },
    "Pause": {
      "Comment": "The gateway's stores did not respond, or this release cannot read the video. The provider continues, so wait and poll again.",
      "Type": "Wait",
      "Seconds": 60,
      "Next": "Poll"
    },
    "Store": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "store", "videoId.$": "$.videoId" },
      "ResultPath": null,
      "TimeoutSeconds": 150,
      "Retry": [
        {
          "ErrorEquals": ["MaintenancePaused"],
          "IntervalSeconds": 60,
          "BackoffRate": 1,
          "MaxAttempts": 99999999
        },
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 8
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Release" }],
      "Next": "Charge"
    },
    "Charge": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "charge", "videoId.$": "$.videoId" },
      "ResultPath": null,
      "TimeoutSeconds": 30,
      "Retry": [
        {
          "ErrorEquals": ["MaintenancePaused"],
          "IntervalSeconds": 60,
          "BackoffRate": 1,
          "MaxAttempts": 99999999
        },
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Release" }],
      "Next": "Finish"
    },
    "Finish": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "finish", "videoId.$": "$.videoId" },
      "ResultPath": "$.ended",
      "TimeoutSeconds": 30,
      "Retry": [
        {
          "ErrorEquals": ["MaintenancePaused"],
          "IntervalSeconds": 60,
          "BackoffRate": 1,
          "MaxAttempts": 99999999
        },
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Release" }],
      "Next": "Told"
    },
    "Release": {
      "Comment": "If all retries fail, for example because a newer release changed the video, wait and poll again. An execution that failed could not continue the video.",
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "release", "videoId.$": "$.videoId" },
      "ResultPath": "$.ended",
      "TimeoutSeconds": 30,
      "Retry": [
        {
          "ErrorEquals": ["MaintenancePaused"],
          "IntervalSeconds": 60,
          "BackoffRate": 1,
          "MaxAttempts": 99999999
        },
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Pause" }],
      "Next": "Told"
    },
    "Told": {
      "Type": "Choice",
      "Choices": [{ "Variable": "$.ended.webhook", "BooleanEquals": true, "Next": "Notify" }],
      "Default": "Done"
    },
    "Notify": {
      "Comment": "No other step depends on the webhook, so its retries may outlast the hold.",
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "notify", "videoId.$": "$.videoId" },
      "ResultPath": null,
      "TimeoutSeconds": 60,
      "Retry": [
        {
          "ErrorEquals": ["MaintenancePaused"],
          "IntervalSeconds": 60,
          "BackoffRate": 1,
          "MaxAttempts": 99999999
        },
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${WebhookRetrySeconds},
          "BackoffRate": 3,
          "MaxDelaySeconds": 3600,
          "MaxAttempts": 4,
          "JitterStrategy": "FULL"
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Done" }],
      "Next": "Done"
    },
    "Done": { "Type": "Succeed" }
  }
}
